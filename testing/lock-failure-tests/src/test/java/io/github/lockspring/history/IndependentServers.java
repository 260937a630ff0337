package io.github.lockspring.history;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

import io.github.lockspring.history.RedisWorker.Place;
import io.github.lockspring.testsupport.history.Fault;
import io.github.lockspring.testsupport.history.Faults;
import io.github.lockspring.testsupport.history.HistoryChecker.DataLoss;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RedlockServers;

/**
 * Five servers that know nothing of each other, for Redlock. Each worker has a proxy of
 * its own to each of them.
 */
final class IndependentServers extends RedisServers {

	/*
	 * No fault waits until a node that was started again has its vote back: while it has
	 * none, a fault that stops two more nodes only means that nothing is granted.
	 */

	private final RedlockServers servers = RedlockServers.start(5);

	IndependentServers() {
		super(Place.Topology.REDLOCK);
	}

	@Override
	public Way way(int worker) {
		List<TcpProxy> proxies = this.servers.addProxies();
		return way(worker, proxies.stream().map(TcpProxy::port).toList(), proxies);
	}

	// restoring a node also ends what happens to a worker's own connection to it
	@Override
	public void make(Fault fault, SplittableRandom random, Collection<DataLoss> losses) throws InterruptedException {
		RedisFault kind = (RedisFault) fault;
		int[] two = two(random);
		int[] some = (random.nextBoolean()) ? two : new int[] { two[0] };
		List<RedisServer> nodes = IntStream.of(some).mapToObj(this.servers::server).toList();
		Duration delay = Duration.ofMillis(random.nextInt(5, 200));
		Runnable restore = () -> this.servers.restore(some);
		switch (kind) {
			case NODES_KILLED -> Faults.during(random, 0, 1500, () -> nodes.forEach(RedisServer::kill),
					() -> nodes.forEach(RedisServer::restart));
			case NODES_STOPPED -> Faults.during(random, 100, 3000, () -> nodes.forEach(RedisServer::pause),
					() -> nodes.forEach(RedisServer::resume));
			case NODES_CUT_OFF -> Faults.during(random, 100, 3000, () -> this.servers.cutOff(some), restore);
			case NODES_SLOW -> Faults.during(random, 300, 3000, () -> this.servers.delay(delay, some), restore);
			case NODE_FORGETS -> {
				this.servers.cutOff(two);
				Faults.pause(random, 500, 2000);
				int[] others = IntStream.range(0, 5).filter((node) -> node != two[0] && node != two[1]).toArray();
				this.servers.server(others[random.nextInt(others.length)]).restart();
				this.servers.restore(two);
			}
			default -> nodes.forEach((node) -> makeOn(node, kind));
		}
	}

	private static int[] two(SplittableRandom random) {
		int first = random.nextInt(5);
		return new int[] { first, (first + random.nextInt(1, 5)) % 5 };
	}

	@Override
	List<RedisServer> keepers() {
		return this.servers.all();
	}

	@Override
	public void close() {
		this.servers.close();
	}

}
