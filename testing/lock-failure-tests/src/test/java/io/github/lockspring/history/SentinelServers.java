package io.github.lockspring.history;

import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;

import io.github.lockspring.history.RedisWorker.Place;
import io.github.lockspring.testsupport.history.Fault;
import io.github.lockspring.testsupport.history.Faults;
import io.github.lockspring.testsupport.history.HistoryChecker.DataLoss;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.SentinelGroup;
import io.github.lockspring.testsupport.redis.SentinelServer;

/**
 * A master, two replicas and three sentinels. Workers go where the sentinels send them,
 * without proxies. Data counts as lost in each failover.
 */
final class SentinelServers extends RedisServers {

	private final SentinelGroup group = SentinelGroup.start();

	/** For how long replicas hear nothing of a master that is killed ahead of them. */
	private final int leastAheadMillis;

	/**
	 * Starts the servers.
	 * @param acknowledged whether both replicas must have a lock; otherwise a master is
	 * ahead for so long that some of the few long holds begin in that time
	 */
	SentinelServers(boolean acknowledged) {
		super(acknowledged ? Place.Topology.SENTINEL_ACKNOWLEDGED : Place.Topology.SENTINEL);
		this.leastAheadMillis = acknowledged ? 50 : 1500;
	}

	@Override
	public Way way(int worker) {
		List<Integer> ports = this.group.sentinels().stream().map(SentinelServer::port).toList();
		return way(worker, ports, List.of());
	}

	@Override
	public void make(Fault fault, SplittableRandom random, Collection<DataLoss> losses) throws InterruptedException {
		RedisFault kind = (RedisFault) fault;
		RedisServer master = this.group.master();
		switch (kind) {
			case MASTER_KILLED, MASTER_STOPPED, MASTER_AND_SENTINEL_STOPPED, MASTER_KILLED_AHEAD -> {
				long from = System.nanoTime();
				failOver(kind, master, random);
				losses.add(new DataLoss(from, System.nanoTime()));
			}
			default -> makeOn(master, kind);
		}
		this.group.awaitHealthy();
	}

	private void failOver(RedisFault kind, RedisServer master, SplittableRandom random) throws InterruptedException {
		// the one that clients ask first
		SentinelServer sentinel = this.group.sentinels().get(0);
		switch (kind) {
			case MASTER_KILLED -> master.kill();
			case MASTER_STOPPED -> master.pause();
			case MASTER_AND_SENTINEL_STOPPED -> {
				sentinel.pause();
				master.pause();
			}
			default -> killAhead(master, random);
		}
		this.group.awaitFailoverFrom(master);
		if (master.isPaused()) {
			master.resume();
		}
		else {
			this.group.restart(master);
		}
		if (sentinel.isPaused()) {
			sentinel.resume();
		}
		this.group.awaitHealthy();
	}

	/** Kills a master whose replicas have heard nothing of it for a while. */
	private void killAhead(RedisServer master, SplittableRandom random) throws InterruptedException {
		List<RedisServer> replicas = this.group.servers().stream().filter((server) -> server != master).toList();
		replicas.forEach(RedisServer::pause);
		// they would read what was already sent when they are resumed
		master.command("CLIENT", "KILL", "TYPE", "replica");
		Faults.pause(random, this.leastAheadMillis, this.leastAheadMillis + 300);
		master.kill();
		replicas.forEach(RedisServer::resume);
	}

	@Override
	List<RedisServer> keepers() {
		return List.of(this.group.master());
	}

	@Override
	public void close() {
		this.group.close();
	}

}
