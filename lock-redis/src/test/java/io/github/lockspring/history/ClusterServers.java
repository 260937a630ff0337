package io.github.lockspring.history;

import java.time.Duration;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.redis.RedisServer;

import static org.awaitility.Awaitility.await;

/**
 * Three masters with a replica each. Workers go where the nodes send them, so that there
 * are no proxies on their way. Data counts as lost in each failover.
 */
final class ClusterServers implements Servers {

	private static final Duration NODE_TIMEOUT = Duration.ofSeconds(2);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final RedisCluster cluster = RedisCluster.start();

	private final List<Integer> slots;

	/**
	 * Starts the servers.
	 * @param slots those that are moved
	 */
	ClusterServers(List<Integer> slots) {
		this.slots = slots;
	}

	@Override
	public Way way(Driver driver) {
		List<Integer> ports = this.cluster.nodes().stream().map(RedisServer::port).toList();
		return new Way(new Place(Place.Topology.CLUSTER, driver, ports), List.of());
	}

	@Override
	public Set<FaultKind> faults() {
		return EnumSet.of(FaultKind.WORKER_KILLED, FaultKind.WORKER_STOPPED, FaultKind.CLIENTS_KILLED,
				FaultKind.SUBSCRIBERS_KILLED, FaultKind.SCRIPTS_FLUSHED, FaultKind.SLOT_MOVED, FaultKind.MASTER_KILLED,
				FaultKind.MASTER_STOPPED, FaultKind.MASTER_KILLED_AHEAD);
	}

	@Override
	public void make(FaultKind kind, SplittableRandom random, Collection<DataLoss> losses) throws InterruptedException {
		RedisServer node = this.cluster.nodes().get(random.nextInt(this.cluster.nodes().size()));
		RedisServer master = this.cluster.masters().get(random.nextInt(this.cluster.masters().size()));
		switch (kind) {
			case CLIENTS_KILLED -> node.command("CLIENT", "KILL", "TYPE", "normal");
			case SUBSCRIBERS_KILLED -> node.command("CLIENT", "KILL", "TYPE", "pubsub");
			case SCRIPTS_FLUSHED -> node.command("SCRIPT", "FLUSH");
			case SLOT_MOVED -> {
				int slot = this.slots.get(random.nextInt(this.slots.size()));
				RedisServer home = this.cluster.masterOf(slot);
				RedisServer away = this.cluster.masters()
					.get((this.cluster.masters().indexOf(home) + 1 + random.nextInt(2)) % 3);
				move(slot, home, away, random);
				Faults.pause(random, 0, 500);
				move(slot, away, home, random);
			}
			case MASTER_KILLED -> failOver(losses, master, master::kill, master::restart);
			case MASTER_STOPPED -> failOver(losses, master, master::pause, master::resume);
			case MASTER_KILLED_AHEAD -> {
				// that of a lock, so that there is something to forget
				RedisServer home = this.cluster.masterOf(this.slots.get(random.nextInt(this.slots.size())));
				RedisServer replica = this.cluster.replicaOf(home);
				failOver(losses, home, () -> {
					replica.pause();
					// what was sent to it it reads when it wakes: so nothing more is
					home.command("CLIENT", "KILL", "TYPE", "replica");
					Faults.pause(random, 500, 1500);
					home.kill();
					replica.resume();
				}, home::restart);
			}
			default -> throw new IllegalArgumentException(kind.name());
		}
	}

	private void move(int slot, RedisServer from, RedisServer to, SplittableRandom random) throws InterruptedException {
		RedisCluster.SlotMove move = this.cluster.move(slot, from, to);
		Faults.pause(random, 0, 200);
		move.keys();
		Faults.pause(random, 0, 200);
		move.keys().end();
	}

	private void failOver(Collection<DataLoss> losses, RedisServer master, Step fail, Step comeBack)
			throws InterruptedException {
		long from = System.nanoTime();
		RedisServer replica = this.cluster.replicaOf(master);
		this.cluster.failOverAfter(NODE_TIMEOUT);
		fail.run();
		try {
			await().atMost(PATIENCE).until(() -> this.cluster.isMaster(replica));
		}
		finally {
			comeBack.run();
		}
		losses.add(new DataLoss(from, System.nanoTime()));
		this.cluster.restore();
		losses.add(new DataLoss(from, System.nanoTime()));
	}

	@Override
	public List<RedisServer> keepers() {
		return this.cluster.masters();
	}

	@Override
	public void close() {
		this.cluster.close();
	}

	private interface Step {

		void run() throws InterruptedException;

	}

}
