package io.github.lockspring.history;

import java.util.List;

import io.github.lockspring.history.RedisWorker.Place;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.testsupport.history.Servers;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is the same for the servers of all topologies.
 */
abstract class RedisServers implements Servers {

	private final Place.Topology topology;

	RedisServers(Place.Topology topology) {
		this.topology = topology;
	}

	/** Returns the servers that have keys of their own when nothing fails. */
	abstract List<RedisServer> keepers();

	@Override
	public Class<?> worker() {
		return RedisWorker.class;
	}

	/** Every third worker speaks through the other driver. */
	final Way way(int worker, List<Integer> ports, List<TcpProxy> proxies) {
		Driver driver = (worker % 3 == 0) ? Driver.JEDIS : Driver.LETTUCE;
		return new Way(new Place(this.topology, driver, ports).toString(), proxies);
	}

	final void makeOn(RedisServer server, RedisFault fault) {
		switch (fault) {
			case CLIENTS_KILLED -> server.command("CLIENT", "KILL", "TYPE", "normal");
			case SUBSCRIBERS_KILLED -> server.command("CLIENT", "KILL", "TYPE", "pubsub");
			case SCRIPTS_FLUSHED -> server.command("SCRIPT", "FLUSH");
			default -> throw new IllegalArgumentException(fault.name());
		}
	}

	@Override
	public void assertNothingIsLeft() {
		for (RedisServer keeper : keepers()) {
			assertThat(keeper.keys()).allMatch((key) -> key.matches("\\{lock:\\w+}:queue|\\{\\d+}:fence:lock:"))
				.allSatisfy((key) -> assertThat(keeper.pttl(key)).isPositive());
		}
	}

}
