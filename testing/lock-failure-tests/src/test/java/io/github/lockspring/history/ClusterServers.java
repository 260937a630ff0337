package io.github.lockspring.history;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;

import io.github.lockspring.history.RedisWorker.Place;
import io.github.lockspring.testsupport.history.Fault;
import io.github.lockspring.testsupport.history.Faults;
import io.github.lockspring.testsupport.history.HistoryChecker.DataLoss;
import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.redis.RedisServer;

import static org.awaitility.Awaitility.await;

/**
 * Three masters with a replica each. Workers go where the nodes send them, without
 * proxies. Data counts as lost in each failover.
 */
final class ClusterServers extends RedisServers {

	private final RedisCluster cluster = RedisCluster.start();

	private final List<Integer> slots;

	/**
	 * Starts the servers.
	 * @param slots those that are moved
	 */
	ClusterServers(List<Integer> slots) {
		super(Place.Topology.CLUSTER);
		this.slots = slots;
	}

	@Override
	public Way way(int worker) {
		List<Integer> ports = this.cluster.nodes().stream().map(RedisServer::port).toList();
		return way(worker, ports, List.of());
	}

	@Override
	public void make(Fault fault, SplittableRandom random, Collection<DataLoss> losses) throws InterruptedException {
		List<RedisServer> masters = this.cluster.masters();
		RedisServer master = masters.get(random.nextInt(masters.size()));
		int slot = this.slots.get(random.nextInt(this.slots.size()));
		RedisServer home = this.cluster.masterOf(slot);
		switch ((RedisFault) fault) {
			case SLOT_MOVED -> {
				RedisServer away = masters.get((masters.indexOf(home) + 1 + random.nextInt(2)) % 3);
				move(slot, home, away, random);
				Faults.pause(random, 0, 500);
				move(slot, away, home, random);
			}
			case MASTER_KILLED -> failOver(losses, master, master::kill, master::restart);
			case MASTER_STOPPED -> failOver(losses, master, master::pause, master::resume);
			default ->
				makeOn(this.cluster.nodes().get(random.nextInt(this.cluster.nodes().size())), (RedisFault) fault);
		}
	}

	private void move(int slot, RedisServer from, RedisServer to, SplittableRandom random) throws InterruptedException {
		RedisCluster.SlotMove move = this.cluster.move(slot, from, to);
		Faults.pause(random, 0, 200);
		move.keys();
		Faults.pause(random, 0, 200);
		move.keys().end();
	}

	private void failOver(Collection<DataLoss> losses, RedisServer master, Runnable fail, Runnable comeBack) {
		long from = System.nanoTime();
		RedisServer replica = this.cluster.replicaOf(master);
		this.cluster.failOverAfter(Duration.ofSeconds(2));
		fail.run();
		try {
			await().atMost(Duration.ofMinutes(1)).until(() -> this.cluster.isMaster(replica));
		}
		finally {
			comeBack.run();
		}
		losses.add(new DataLoss(from, System.nanoTime()));
		this.cluster.restore();
		losses.add(new DataLoss(from, System.nanoTime()));
	}

	@Override
	List<RedisServer> keepers() {
		return this.cluster.masters();
	}

	@Override
	public void close() {
		this.cluster.close();
	}

}
