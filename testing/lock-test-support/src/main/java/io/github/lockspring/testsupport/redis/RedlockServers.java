package io.github.lockspring.testsupport.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy;

/**
 * Independent servers, each behind a proxy. Nodes are named by their index from 0.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class RedlockServers implements AutoCloseable {

	private final List<RedisServer> servers;

	/** Each has a proxy for each server; the first is always present. */
	private final List<List<TcpProxy>> proxies = new CopyOnWriteArrayList<>();

	private RedlockServers(int number) {
		this.servers = Stream.generate(RedisServer::start).limit(number).toList();
		addProxies();
	}

	/** Starts servers on free ports. */
	public static RedlockServers start(int number) {
		return new RedlockServers(number);
	}

	/** Returns all servers. */
	public List<RedisServer> all() {
		return this.servers;
	}

	/** Returns a server. */
	public RedisServer server(int node) {
		return this.servers.get(node);
	}

	/** Returns the first proxy in front of a server. */
	public TcpProxy proxy(int node) {
		return this.proxies.get(0).get(node);
	}

	/** Adds a proxy in front of each server. */
	public List<TcpProxy> addProxies() {
		List<TcpProxy> added = this.servers.stream().map((server) -> new TcpProxy(server.port())).toList();
		this.proxies.add(added);
		return added;
	}

	/** Returns the ports of the servers, without proxies. */
	public int[] ports() {
		return this.servers.stream().mapToInt(RedisServer::port).toArray();
	}

	/** Returns the ports of the first proxies. */
	public int[] proxyPorts() {
		return this.proxies.get(0).stream().mapToInt(TcpProxy::port).toArray();
	}

	/**
	 * Delays what passes the proxies, in each direction.
	 * @param delay by how much
	 * @param nodes which nodes; all if none is named
	 */
	public void delay(Duration delay, int... nodes) {
		proxies(nodes).forEach((proxy) -> proxy.delay(delay));
	}

	/**
	 * Ends all faults of proxies.
	 * @param nodes which nodes; all if none is named
	 */
	public void restore(int... nodes) {
		proxies(nodes).forEach(TcpProxy::restore);
	}

	/**
	 * Ends all connections through proxies and refuses new ones.
	 * @param nodes which nodes; all if none is named
	 */
	public void cutOff(int... nodes) {
		proxies(nodes).forEach((proxy) -> {
			proxy.refuse();
			proxy.cut(Cut.RST);
		});
	}

	private Stream<TcpProxy> proxies(int... nodes) {
		return this.proxies.stream()
			.flatMap((each) -> (nodes.length == 0) ? each.stream() : IntStream.of(nodes).mapToObj(each::get));
	}

	/** Ends all faults of proxies and deletes all keys. */
	public void heal() {
		restore();
		this.servers.forEach(RedisServer::flushAll);
	}

	/** Returns the servers that have a key. */
	public List<RedisServer> having(String key) {
		return this.servers.stream().filter((server) -> server.exists(key)).toList();
	}

	@Override
	public void close() {
		proxies().forEach(TcpProxy::close);
		this.servers.forEach(RedisServer::close);
	}

}
