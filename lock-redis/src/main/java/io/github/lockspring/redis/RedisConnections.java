package io.github.lockspring.redis;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Connections to the application's Redis that nobody else uses. Thread-safe; nothing
 * connects before the first call.
 */
interface RedisConnections extends AutoCloseable {

	/**
	 * The shard of everything where one server answers, and of what any server may
	 * answer.
	 */
	String ANY_LANE = "";

	/**
	 * Runs commands, and waits for their answers no longer than the timeout: whatever it
	 * is that takes so long, connecting included.
	 * @param shard names the server that is expected to answer: those who wait for
	 * different ones do not wait for each other
	 * @throws RuntimeException what the driver or Spring Data throws
	 */
	<T extends @Nullable Object> T call(String shard, Function<StringRedisTemplate, T> commands, Duration timeout);

	/**
	 * Runs commands that any server may answer.
	 */
	default <T extends @Nullable Object> T call(Function<StringRedisTemplate, T> commands, Duration timeout) {
		return call(ANY_LANE, commands, timeout);
	}

	/**
	 * Names the server that answers for a key, as far as is known. Never blocks.
	 * @param name the key, with its prefix
	 */
	String shard(String name);

	/**
	 * Further connections, for commands that have to follow each other on the same one.
	 * @param size most connections at a time
	 * @throws UnsupportedOperationException where there is no single server at a time
	 */
	DedicatedConnections dedicated(int size);

	/**
	 * Says that the server at the other end might not be the one to ask any more: it fell
	 * silent, or has no replicas. Returns at once.
	 */
	void suspect();

	/**
	 * A further, started factory for one subscription, to be given to
	 * {@link #closeSubscriber}; empty if this Redis cannot be subscribed to. May block
	 * and fail while Redis cannot be reached.
	 */
	Optional<RedisConnectionFactory> openSubscriber();

	void closeSubscriber(RedisConnectionFactory subscriber);

	/**
	 * Whether subscriptions can be had at all. Never blocks.
	 */
	boolean canSubscribe();

	/**
	 * What the keys of one script have to have in common.
	 */
	Topology topology();

	/**
	 * A template for our own commands, which need no guard around the connection: a proxy
	 * would be made for each of them.
	 */
	static StringRedisTemplate template(RedisConnectionFactory factory) {
		StringRedisTemplate template = new StringRedisTemplate(factory);
		template.setExposeConnection(true);
		template.setScriptExecutor(new ScriptsWithoutCache(template));
		return template;
	}

	@Override
	void close();

	/**
	 * How many servers answer.
	 */
	enum Topology {

		/**
		 * One server answers everything, subscriptions too.
		 */
		SINGLE,

		/**
		 * One server at a time, and a connection to one that has been replaced may still
		 * be open.
		 */
		SENTINEL,

		/**
		 * Not known, or subscriptions may be at another server than commands.
		 */
		UNKNOWN,

		/**
		 * Each hash slot has a server.
		 */
		CLUSTER;

		/**
		 * Whether there is a server that answers everything at present.
		 */
		boolean isOneServer() {
			return this == SINGLE || this == SENTINEL;
		}

	}

}
