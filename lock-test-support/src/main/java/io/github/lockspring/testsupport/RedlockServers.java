package io.github.lockspring.testsupport;

import java.util.ArrayList;
import java.util.List;

/**
 * Independent servers, each behind a proxy. Thread-safe.
 */
public final class RedlockServers implements AutoCloseable {

	private final List<RedisServer> servers = new ArrayList<>();

	private final List<TcpProxy> proxies = new ArrayList<>();

	private RedlockServers() {
	}

	/**
	 * Starts servers on free ports.
	 */
	public static RedlockServers start(int number) {
		RedlockServers started = new RedlockServers();
		for (int i = 0; i < number; i++) {
			RedisServer server = RedisServer.start();
			started.servers.add(server);
			started.proxies.add(new TcpProxy(server.port()));
		}
		return started;
	}

	public List<RedisServer> all() {
		return this.servers;
	}

	public RedisServer server(int index) {
		return this.servers.get(index);
	}

	public TcpProxy proxy(int index) {
		return this.proxies.get(index);
	}

	/**
	 * Ports of the servers, reached directly.
	 */
	public int[] ports() {
		return this.servers.stream().mapToInt(RedisServer::port).toArray();
	}

	/**
	 * Ports of the proxies in front of the servers.
	 */
	public int[] proxyPorts() {
		return this.proxies.stream().mapToInt(TcpProxy::port).toArray();
	}

	/**
	 * Makes everything well again and forgets all keys.
	 */
	public void heal() {
		this.proxies.forEach(TcpProxy::restore);
		this.servers.forEach(RedisServer::flushAll);
	}

	/**
	 * The servers that have a key.
	 */
	public List<RedisServer> having(String key) {
		return this.servers.stream().filter((server) -> server.exists(key)).toList();
	}

	@Override
	public void close() {
		this.proxies.forEach(TcpProxy::close);
		this.servers.forEach(RedisServer::close);
	}

}
