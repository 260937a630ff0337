package io.github.lockspring.history;

import java.time.Duration;

import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.redis.RedisStoreSettings;
import io.github.lockspring.store.LockStore;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * What a worker has to know of its servers; short enough for a command line.
 *
 * @param topology how they belong together
 * @param driver how to speak with them
 * @param ports where they are
 */
record Place(Topology topology, Driver driver, int... ports) {

	private static final String HOST = "127.0.0.1";

	enum Topology {

		SINGLE

	}

	enum Driver {

		LETTUCE, JEDIS

	}

	static Place parse(String text) {
		String[] words = text.split(":");
		int[] ports = new int[words.length - 2];
		for (int i = 0; i < ports.length; i++) {
			ports[i] = Integer.parseInt(words[i + 2]);
		}
		return new Place(Topology.valueOf(words[0]), Driver.valueOf(words[1]), ports);
	}

	@Override
	public String toString() {
		StringBuilder text = new StringBuilder().append(this.topology).append(':').append(this.driver);
		for (int port : this.ports) {
			text.append(':').append(port);
		}
		return text.toString();
	}

	LockStore store(RedisStoreSettings settings, Duration longestTtl) {
		return switch (this.topology) {
			case SINGLE -> RedisLockStore.create(factory(), settings);
		};
	}

	private RedisConnectionFactory factory() {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(HOST, this.ports[0]);
		return switch (this.driver) {
			case LETTUCE -> new LettuceConnectionFactory(server);
			case JEDIS -> new JedisConnectionFactory(server);
		};
	}

}
