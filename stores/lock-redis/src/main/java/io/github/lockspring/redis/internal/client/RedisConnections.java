package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * A store's own connections to the application's Redis. Thread-safe; does not connect
 * before the first call.
 *
 * @since 0.1
 */
public interface RedisConnections extends AutoCloseable {

	/**
	 * The shard of all keys where one server holds them, and of commands that any server
	 * may execute.
	 */
	String ANY_SHARD = "";

	/**
	 * Runs commands and waits for their result no longer than the timeout, which includes
	 * connecting.
	 * @param <T> type of the result
	 * @param shard the server that is expected to reply; calls to different servers do
	 * not wait for each other
	 * @param commands the commands, which may be repeated
	 * @param timeout the longest wait
	 * @return the result of the commands
	 * @throws RuntimeException as the driver or Spring Data throws it
	 */
	<T extends @Nullable Object> T call(String shard, Function<StringRedisTemplate, T> commands, Duration timeout);

	/**
	 * Sends a script without waiting for its reply. Commands that are sent later to the
	 * server of its keys are executed after it. Never blocks.
	 * @param script the script
	 * @param keys its keys, all of them in one hash slot
	 * @param args its arguments, as text
	 * @return the reply as text, or a failure; empty if that is not possible, now or ever
	 */
	default Optional<CompletionStage<String>> executeAsync(RedisScript<String> script, List<String> keys,
			Object[] args) {
		return Optional.empty();
	}

	/**
	 * Names the server that holds a key, as far as is known. Never blocks.
	 * @param name the key, with its prefix
	 * @return the server's name, or {@link #ANY_SHARD}
	 */
	String shard(String name);

	/**
	 * Creates connections for commands that must follow each other on the same one. Does
	 * not connect.
	 * @param size the largest number of connections
	 * @return the connections, to be closed by the caller
	 * @throws UnsupportedOperationException if no single server executes all commands
	 */
	DedicatedConnections dedicated(int size);

	/**
	 * Reports that the connected server may no longer be the master: it does not reply,
	 * or has no replicas. Returns at once.
	 */
	void suspect();

	/**
	 * Creates and starts a factory for one subscription. May block, and fails while Redis
	 * is unavailable. Requires {@link #canSubscribe}.
	 * @return the factory, to be passed to {@link #closeSubscriber}
	 */
	RedisConnectionFactory openSubscriber();

	/**
	 * Closes a factory that {@link #openSubscriber} returned.
	 * @param subscriber the factory
	 */
	void closeSubscriber(RedisConnectionFactory subscriber);

	/**
	 * Returns whether subscriptions are possible. Never blocks.
	 * @return false if they never are
	 */
	boolean canSubscribe();

	/**
	 * Returns how servers share the keys.
	 * @return the topology
	 */
	Topology topology();

	@Override
	void close();

	/**
	 * How many servers execute commands.
	 */
	enum Topology {

		/**
		 * One server for everything, subscriptions included.
		 */
		SINGLE,

		/**
		 * One server at a time; a connection to a replaced master may still be open.
		 */
		SENTINEL,

		/**
		 * Not known, or subscriptions may be at another server than commands.
		 */
		UNKNOWN,

		/**
		 * Each hash slot has its own server.
		 */
		CLUSTER;

		/**
		 * Returns whether one server executes everything at any time.
		 * @return false for a cluster, and if it is not known
		 */
		public boolean isOneServer() {
			return this == SINGLE || this == SENTINEL;
		}

	}

}
