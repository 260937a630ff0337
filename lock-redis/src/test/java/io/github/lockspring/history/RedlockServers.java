package io.github.lockspring.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;

/**
 * Five servers that know nothing of each other. Each worker has a proxy of its own to
 * each of them.
 */
final class RedlockServers implements Servers {

	/*
	 * Nobody has to wait until a node that was started again has its vote back: while it
	 * has none, a fault that stops two more of them only means that nothing is granted.
	 */

	private static final int NODES = 5;

	private final List<RedisServer> nodes = Stream.generate(RedisServer::start).limit(NODES).toList();

	/** For each node those that lead to it. */
	private final List<List<TcpProxy>> proxies = this.nodes.stream()
		.<List<TcpProxy>>map((node) -> new CopyOnWriteArrayList<>())
		.toList();

	private final Place.Topology topology;

	/**
	 * Starts the servers.
	 * @param trusting whether nodes have a vote right after they were started
	 */
	RedlockServers(boolean trusting) {
		this.topology = trusting ? Place.Topology.REDLOCK_TRUSTING : Place.Topology.REDLOCK;
	}

	@Override
	public Way way(Driver driver) {
		List<TcpProxy> way = new ArrayList<>();
		for (int i = 0; i < NODES; i++) {
			TcpProxy proxy = new TcpProxy(this.nodes.get(i).port());
			this.proxies.get(i).add(proxy);
			way.add(proxy);
		}
		return new Way(new Place(this.topology, driver, way.stream().map(TcpProxy::port).toList()), way);
	}

	@Override
	public Set<FaultKind> faults() {
		Set<FaultKind> faults = EnumSet.range(FaultKind.WORKER_KILLED, FaultKind.BYTES_LATE);
		faults.addAll(EnumSet.of(FaultKind.CLIENTS_KILLED, FaultKind.SCRIPTS_FLUSHED, FaultKind.NODES_KILLED,
				FaultKind.NODES_STOPPED, FaultKind.NODES_CUT_OFF, FaultKind.NODES_SLOW, FaultKind.NODE_FORGETS));
		return faults;
	}

	@Override
	public void make(FaultKind kind, SplittableRandom random, Collection<DataLoss> losses) throws InterruptedException {
		List<Integer> all = shuffled(random);
		List<Integer> some = all.subList(0, random.nextInt(1, 3));
		switch (kind) {
			case CLIENTS_KILLED -> some.forEach((node) -> server(node).command("CLIENT", "KILL", "TYPE", "normal"));
			case SCRIPTS_FLUSHED -> some.forEach((node) -> server(node).command("SCRIPT", "FLUSH"));
			case NODES_KILLED -> {
				some.forEach((node) -> server(node).kill());
				Faults.pause(random, 0, 1500);
				some.forEach((node) -> server(node).restart());
			}
			case NODES_STOPPED -> {
				some.forEach((node) -> server(node).pause());
				Faults.pause(random, 100, 3000);
				some.forEach((node) -> server(node).resume());
			}
			case NODES_CUT_OFF -> {
				some.forEach(this::cutOff);
				Faults.pause(random, 100, 3000);
				some.forEach(this::restore);
			}
			case NODES_SLOW -> {
				Duration delay = Duration.ofMillis(random.nextInt(5, 200));
				some.forEach((node) -> this.proxies.get(node).forEach((proxy) -> proxy.delay(delay)));
				Faults.pause(random, 300, 3000);
				some.forEach(this::restore);
			}
			case NODE_FORGETS -> {
				List<Integer> away = all.subList(0, 2);
				away.forEach(this::cutOff);
				Faults.pause(random, 500, 2000);
				server(all.get(2)).restart();
				away.forEach(this::restore);
			}
			default -> throw new IllegalArgumentException(kind.name());
		}
	}

	private RedisServer server(int node) {
		return this.nodes.get(node);
	}

	private void cutOff(int node) {
		this.proxies.get(node).forEach((proxy) -> {
			proxy.refuse();
			proxy.cut(Cut.RST);
		});
	}

	// ends at the same time what happens to a worker's own connection to that node
	private void restore(int node) {
		this.proxies.get(node).forEach(TcpProxy::restore);
	}

	private static List<Integer> shuffled(SplittableRandom random) {
		List<Integer> rest = new ArrayList<>(List.of(0, 1, 2, 3, 4));
		List<Integer> shuffled = new ArrayList<>();
		while (!rest.isEmpty()) {
			shuffled.add(rest.remove(random.nextInt(rest.size())));
		}
		return shuffled;
	}

	@Override
	public List<RedisServer> keepers() {
		return this.nodes;
	}

	@Override
	public void close() {
		this.nodes.forEach(RedisServer::close);
	}

}
