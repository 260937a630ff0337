package io.github.lockspring.testsupport;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.redis.RedlockNode;
import io.github.lockspring.testsupport.Instance.Driver;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

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
	 * The servers, reached directly.
	 */
	public List<RedlockNode> nodes(Driver driver) {
		return nodes(driver, this.servers.stream().mapToInt(RedisServer::port).toArray());
	}

	/**
	 * The servers, reached through their proxies.
	 */
	public List<RedlockNode> nodesBehindProxies(Driver driver) {
		return nodes(driver, this.proxies.stream().mapToInt(TcpProxy::port).toArray());
	}

	/**
	 * Servers of this machine, for processes that did not start them.
	 */
	public static List<RedlockNode> nodes(Driver driver, int... ports) {
		List<RedlockNode> nodes = new ArrayList<>();
		for (int port : ports) {
			RedisStandaloneConfiguration where = new RedisStandaloneConfiguration("127.0.0.1", port);
			RedisConnectionFactory factory = (driver == Driver.LETTUCE) ? new LettuceConnectionFactory(where)
					: new JedisConnectionFactory(where);
			nodes.add(new RedlockNode("127.0.0.1:" + port, factory));
		}
		return nodes;
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
