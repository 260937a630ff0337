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

	/**
	 * Starts the servers.
	 * @param acknowledged whether both replicas must have a lock
	 */
	SentinelServers(boolean acknowledged) {
		super(acknowledged ? Place.Topology.SENTINEL_ACKNOWLEDGED : Place.Topology.SENTINEL);
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
			case SENTINEL_KILLED -> {
				SentinelServer sentinel = this.group.sentinels().get(random.nextInt(this.group.sentinels().size()));
				Faults.during(random, 0, 2000, sentinel::kill, sentinel::restart);
			}
			case MASTER_KILLED, MASTER_STOPPED, MASTER_KILLED_AHEAD -> {
				long from = System.nanoTime();
				failOver(kind, master, random);
				losses.add(new DataLoss(from, System.nanoTime()));
			}
			default -> makeOn(master, kind);
		}
		this.group.awaitHealthy();
	}

	private void failOver(RedisFault kind, RedisServer master, SplittableRandom random) throws InterruptedException {
		switch (kind) {
			case MASTER_KILLED -> master.kill();
			case MASTER_STOPPED -> master.pause();
			default -> killAhead(master, this.group.servers().stream().filter((server) -> server != master).toList(),
					random, 50, 350);
		}
		this.group.awaitFailoverFrom(master);
		if (kind == RedisFault.MASTER_STOPPED) {
			master.resume();
		}
		else {
			this.group.restart(master);
		}
		this.group.awaitHealthy();
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
