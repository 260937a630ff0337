package io.github.lockspring.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.redis.redlock.RedlockLockStore;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.history.HistoryWorker;
import io.github.lockspring.testsupport.redis.SentinelGroup;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;

/**
 * A process of a history on Redis.
 */
final class RedisWorker {

	private RedisWorker() {
	}

	/** Runs a worker. */
	public static void main(String[] args) throws Exception {
		try (LockStore store = Place.parse(args[0]).store(Collections.max(HistoryWorker.ttls(args)))) {
			HistoryWorker.work(args, store, false, Place.COMMAND_TIMEOUT);
		}
	}

	/**
	 * How a worker reaches its servers; short enough for a command line.
	 *
	 * @param topology how the servers belong together
	 * @param driver the driver of the client
	 * @param ports the ports of the servers
	 */
	record Place(Topology topology, Driver driver, List<Integer> ports) {

		private static final String PREFIX = "lock:";

		/** Short, so that a worker notices failures and does not wait for long. */
		static final Duration COMMAND_TIMEOUT = Duration.ofMillis(400);

		enum Topology {

			SINGLE,
			/** The ports are those of sentinels. */
			SENTINEL,
			/** As before, and both replicas acknowledge each lock. */
			SENTINEL_ACKNOWLEDGED,
			/** The ports are those of the nodes of a cluster. */
			CLUSTER,
			/** The ports are those of independent servers. */
			REDLOCK

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
		 * Creates a store on these servers.
		 * @param longestTtl the longest lease that the store will be asked for
		 */
		LockStore store(Duration longestTtl) {
			return switch (this.topology) {
				case SINGLE -> redis(this.driver.factory(this.ports.get(0)), 0);
				case SENTINEL -> redis(behindSentinels(), 0);
				case SENTINEL_ACKNOWLEDGED -> redis(behindSentinels(), 2);
				case CLUSTER -> redis(this.driver.factory(new RedisClusterConfiguration(addresses())), 0);
				case REDLOCK -> redlock(longestTtl);
			};
		}

		private static LockStore redis(RedisConnectionFactory factory, int replicaAcks) {
			return RedisLockStore.builder(factory)
				.keyPrefix(PREFIX)
				.commandTimeout(COMMAND_TIMEOUT)
				.replicaAcks(replicaAcks)
				.build();
		}

		private List<String> addresses() {
			return this.ports.stream().map((port) -> "127.0.0.1:" + port).toList();
		}

		private RedisConnectionFactory behindSentinels() {
			return this.driver.factory(new RedisSentinelConfiguration(SentinelGroup.NAME,
					addresses().stream().collect(Collectors.toSet())));
		}

		private LockStore redlock(Duration longestTtl) {
			int[] ports = this.ports.stream().mapToInt(Integer::intValue).toArray();
			return RedlockLockStore.builder(this.driver.redlockNodes(ports))
				.keyPrefix(PREFIX)
				.commandTimeout(COMMAND_TIMEOUT)
				.maxTtl(longestTtl)
				.build();
		}

	}

}
