package io.github.lockspring.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.redis.RedisStoreSettings;
import io.github.lockspring.redis.redlock.RedlockLockStore;
import io.github.lockspring.redis.redlock.RedlockNode;
import io.github.lockspring.redis.redlock.RedlockSettings;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.SentinelGroup;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
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
record Place(Topology topology, Driver driver, List<Integer> ports) {

	private static final String HOST = "127.0.0.1";

	private static final String PREFIX = "lock:";

	/** Short, so that what fails is noticed, and a worker does not wait for long. */
	static final Duration COMMAND_TIMEOUT = Duration.ofMillis(400);

	enum Topology {

		/** The port is the server's. */
		SINGLE,
		/** The ports are the sentinels'. */
		SENTINEL,
		/** The same, and both replicas acknowledge each lock. */
		SENTINEL_ACKNOWLEDGED,
		/** The ports are those of the nodes of a cluster. */
		CLUSTER,
		/** The ports are those of independent servers. */
		REDLOCK,
		/** The same, and nodes are trusted to have forgotten nothing, which is wrong. */
		REDLOCK_TRUSTING

	}

	enum Driver {

		LETTUCE, JEDIS

	}

	static Place parse(String text) {
		List<String> words = List.of(text.split(":"));
		return new Place(Topology.valueOf(words.get(0)), Driver.valueOf(words.get(1)),
				words.subList(2, words.size()).stream().map(Integer::valueOf).toList());
	}

	@Override
	public String toString() {
		List<String> words = new ArrayList<>(List.of(this.topology.name(), this.driver.name()));
		this.ports.forEach((port) -> words.add(port.toString()));
		return String.join(":", words);
	}

	/**
	 * Makes a store on these servers.
	 * @param longestTtl the longest lease that it will be asked for
	 */
	LockStore store(Duration longestTtl) {
		RedisStoreSettings settings = new RedisStoreSettings(PREFIX, COMMAND_TIMEOUT, true);
		return switch (this.topology) {
			case SINGLE -> RedisLockStore.create(single(this.ports.get(0)), settings);
			case SENTINEL -> RedisLockStore.create(behindSentinel(), settings);
			case SENTINEL_ACKNOWLEDGED ->
				RedisLockStore.create(behindSentinel(), settings.withReplicaAcks(2, COMMAND_TIMEOUT.dividedBy(2)));
			case CLUSTER -> RedisLockStore.create(cluster(), settings);
			case REDLOCK -> redlock(longestTtl, false);
			case REDLOCK_TRUSTING -> redlock(longestTtl, true);
		};
	}

	private RedisConnectionFactory single(int port) {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(HOST, port);
		return switch (this.driver) {
			case LETTUCE -> new LettuceConnectionFactory(server);
			case JEDIS -> new JedisConnectionFactory(server);
		};
	}

	private RedisConnectionFactory behindSentinel() {
		RedisSentinelConfiguration sentinels = new RedisSentinelConfiguration();
		sentinels.master(SentinelGroup.NAME);
		this.ports.forEach((port) -> sentinels.sentinel(new RedisNode(HOST, port)));
		return switch (this.driver) {
			case LETTUCE -> new LettuceConnectionFactory(sentinels);
			case JEDIS -> new JedisConnectionFactory(sentinels);
		};
	}

	private RedisConnectionFactory cluster() {
		RedisClusterConfiguration nodes = new RedisClusterConfiguration(
				this.ports.stream().map((port) -> HOST + ':' + port).toList());
		return switch (this.driver) {
			case LETTUCE -> new LettuceConnectionFactory(nodes);
			case JEDIS -> new JedisConnectionFactory(nodes);
		};
	}

	private LockStore redlock(Duration longestTtl, boolean durable) {
		return RedlockLockStore.create(
				this.ports.stream().map((port) -> new RedlockNode(HOST + ':' + port, single(port))).toList(),
				new RedlockSettings(PREFIX, COMMAND_TIMEOUT, COMMAND_TIMEOUT.dividedBy(4), 0.01, longestTtl, durable));
	}

}
