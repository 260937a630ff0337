package io.github.lockspring.history;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.SentinelGroup;
import io.github.lockspring.testsupport.redis.SentinelServer;

/**
 * A master, two replicas and three sentinels. Workers go where the sentinels send them,
 * so that there are no proxies on their way. Data counts as lost in each failover, as far
 * as somebody asks.
 */
final class SentinelServers implements Servers {

	private final SentinelGroup group = SentinelGroup.start();

	private final Place.Topology topology;

	/**
	 * Starts the servers.
	 * @param acknowledged whether both replicas must have a lock
	 */
	SentinelServers(boolean acknowledged) {
		this.topology = acknowledged ? Place.Topology.SENTINEL_ACKNOWLEDGED : Place.Topology.SENTINEL;
	}

	@Override
	public Way way(Driver driver) {
		List<Integer> ports = this.group.sentinels().stream().map(SentinelServer::port).toList();
		return new Way(new Place(this.topology, driver, ports), List.of());
	}

	@Override
	public Set<FaultKind> faults() {
		return EnumSet.of(FaultKind.WORKER_KILLED, FaultKind.WORKER_STOPPED, FaultKind.CLIENTS_KILLED,
				FaultKind.SUBSCRIBERS_KILLED, FaultKind.SCRIPTS_FLUSHED, FaultKind.MASTER_KILLED,
				FaultKind.MASTER_STOPPED, FaultKind.MASTER_KILLED_AHEAD, FaultKind.SENTINEL_KILLED);
	}

	@Override
	public void make(FaultKind kind, SplittableRandom random, Collection<DataLoss> losses) throws InterruptedException {
		RedisServer master = this.group.master();
		switch (kind) {
			case CLIENTS_KILLED -> master.command("CLIENT", "KILL", "TYPE", "normal");
			case SUBSCRIBERS_KILLED -> master.command("CLIENT", "KILL", "TYPE", "pubsub");
			case SCRIPTS_FLUSHED -> master.command("SCRIPT", "FLUSH");
			case SENTINEL_KILLED -> {
				SentinelServer sentinel = this.group.sentinels().get(random.nextInt(this.group.sentinels().size()));
				sentinel.kill();
				Faults.pause(random, 0, 2000);
				sentinel.restart();
			}
			default -> {
				long from = System.nanoTime();
				failOver(kind, master, random);
				losses.add(new DataLoss(from, System.nanoTime()));
			}
		}
		this.group.awaitHealthy();
	}

	private void failOver(FaultKind kind, RedisServer master, SplittableRandom random) throws InterruptedException {
		switch (kind) {
			case MASTER_KILLED -> master.kill();
			case MASTER_STOPPED -> master.pause();
			case MASTER_KILLED_AHEAD -> {
				List<RedisServer> replicas = new ArrayList<>(this.group.servers());
				replicas.remove(master);
				replicas.forEach(RedisServer::pause);
				// what was sent to them they read when they wake: so nothing more is
				master.command("CLIENT", "KILL", "TYPE", "replica");
				Faults.pause(random, 50, 350);
				master.kill();
				replicas.forEach(RedisServer::resume);
			}
			default -> throw new IllegalArgumentException(kind.name());
		}
		this.group.awaitFailoverFrom(master);
		if (kind == FaultKind.MASTER_STOPPED) {
			master.resume();
		}
		else {
			this.group.restart(master);
		}
		this.group.awaitHealthy();
	}

	@Override
	public List<RedisServer> keepers() {
		return List.of(this.group.master());
	}

	@Override
	public void close() {
		this.group.close();
	}

}
