package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * A store's own connections to the application's Redis. Executes scripts, and decides for
 * each driver when a connection is bad. Thread-safe; does not connect before the first
 * call.
 *
 * @since 0.1
 */
public abstract class RedisConnections implements RedisScriptExecutor {

	/**
	 * The shard of all keys where one server holds them, and of commands that any server
	 * may execute.
	 */
	static final String ANY_SHARD = "";

	private final RedisEndpoint endpoint;

	private final Topology topology;

	private final Duration commandTimeout;

	private final ConnectionHealth health;

	private final @Nullable ClusterNodes nodes;

	/**
	 * An address that is wrong at the first connection will not become right. One that
	 * was right before may be right again soon: name servers fail, and while a server
	 * restarts, something else may reply in its place.
	 */
	private volatile boolean replied;

	/**
	 * Creates connections.
	 * @param endpoint names their server in messages
	 * @param commandTimeout the longest time for one command
	 */
	RedisConnections(RedisEndpoint endpoint, Topology topology, Duration commandTimeout) {
		this.endpoint = endpoint;
		this.topology = topology;
		this.commandTimeout = commandTimeout;
		this.health = new ConnectionHealth(commandTimeout);
		this.nodes = (topology == Topology.CLUSTER) ? new ClusterNodes(this) : null;
	}

	/**
	 * {@inheritDoc} Does not block, unless {@link #isBlocking()}. While there is no
	 * connection it fails, and one is opened in the background. What depends on the reply
	 * must not block.
	 * <p>
	 * On a connection that was idle, a reply is awaited for half of the timeout. Without
	 * one the connection is replaced, and the other half is left for another attempt.
	 */
	@Override
	public final <T> CompletionStage<T> execute(RedisScript<T> script, List<String> keys, Object[] args,
			Duration timeout) {
		String shard = shard(keys.get(0));
		long sent = System.nanoTime();
		boolean idle = this.health.isIdle(shard, sent);
		Duration limit = shorter(timeout, this.commandTimeout).dividedBy(idle ? 2 : 1);
		replaceIfSilent(shard, sent);
		this.health.sent(shard, sent);
		CompletionStage<T> stage = send(script, keys, args, limit);
		if (idle || mayLackTls()) {
			stage = stage.toCompletableFuture().orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS);
		}
		return stage.handle((reply, failure) -> {
			ended(shard, sent, failure);
			return usable(reply, failure, limit);
		});
	}

	/**
	 * Returns whether the reason for silence may be a server without TLS, which a caller
	 * does not know.
	 */
	private boolean mayLackTls() {
		return !this.replied && this.endpoint.isTls();
	}

	private void replaceIfSilent(String shard, long now) {
		if (this.nodes != null && this.health.isLate(shard, now)) {
			this.nodes.suspect();
		}
		if (this.health.isSilent(shard, now)) {
			this.health.replaced(shard, now);
			replace(shard);
		}
	}

	/**
	 * Runs commands other than scripts, and waits for their result: for each reply no
	 * longer than the command timeout.
	 * @param <T> type of the result
	 * @param commands the commands
	 * @return the result of the commands
	 * @throws LockUnavailableException without a result
	 */
	public final <T extends @Nullable Object> T run(Function<StringRedisTemplate, T> commands) {
		long sent = System.nanoTime();
		try {
			return call(commands);
		}
		catch (RuntimeException ex) {
			ended(ANY_SHARD, sent, ex);
			throw unavailable(this.commandTimeout, ex);
		}
	}

	private void ended(String shard, long sent, @Nullable Throwable failure) {
		if (failure == null || RedisErrors.isErrorReply(failure)) {
			this.health.replied(shard, sent);
		}
		if (failure == null) {
			return;
		}
		if (RedisErrors.isReplyMissing(failure) && this.health.isIdle(shard, sent)) {
			this.health.replaced(shard, System.nanoTime());
			replace(shard);
		}
		if (this.nodes != null && (!RedisErrors.isErrorReply(failure) || RedisErrors.isTopologyChange(failure))) {
			this.nodes.suspect();
		}
		if ((RedisErrors.isReadOnly(failure) || isBroken(failure)) && this.health.mayReplace(sent, System.nanoTime())) {
			replace(ANY_SHARD);
		}
	}

	/**
	 * Returns the reply to a script.
	 * @throws LockUnavailableException without one
	 */
	final <T> T usable(@Nullable T reply, @Nullable Throwable failure, Duration timeout) {
		if (failure != null) {
			throw unavailable(timeout, failure);
		}
		if (reply == null) {
			throw RedisErrors.noReply();
		}
		this.replied = true;
		return reply;
	}

	/**
	 * Translates a failure of a driver or of Spring Data.
	 * @param timeout how long the caller waited
	 */
	private LockUnavailableException unavailable(Duration timeout, Throwable failure) {
		if (failure instanceof CompletionException && failure.getCause() != null) {
			return unavailable(timeout, failure.getCause());
		}
		if (failure instanceof LockUnavailableException unavailable) {
			return unavailable;
		}
		if (RedisErrors.isInterrupt(failure)) {
			return RedisErrors.interrupted(failure);
		}
		String server = "Redis" + this.endpoint;
		if (RedisErrors.isReplyMissing(failure)) {
			String remedy = mayLackTls() ? RedisErrors.CHECK_TLS : null;
			return new LockUnavailableException(server + " did not reply within " + RedisErrors.format(timeout), remedy,
					failure, false);
		}
		if (RedisErrors.isErrorReply(failure)) {
			this.replied = true;
		}
		boolean permanent = RedisErrors.isRefusal(failure)
				|| (!this.replied && this.endpoint.name().isPresent() && RedisErrors.isWrongAddress(failure));
		return new LockUnavailableException(server + ": " + RedisErrors.problems(failure), RedisErrors.remedy(failure),
				failure, permanent);
	}

	/**
	 * Sends a script, once.
	 * @param timeout for a driver that blocks; others leave it to the caller to give up
	 * @return the reply, or the failure of the driver or of Spring Data; may never
	 * complete
	 */
	abstract <T> CompletionStage<T> send(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout);

	/**
	 * Runs commands.
	 * @throws RuntimeException as the driver or Spring Data throws it
	 */
	abstract <T extends @Nullable Object> T call(Function<StringRedisTemplate, T> commands);

	/**
	 * Returns whether a failure means that other connections to the server are broken
	 * too, and that the driver does not replace them.
	 */
	boolean isBroken(Throwable failure) {
		return false;
	}

	/**
	 * Replaces the connections to a server, or to all of them. Returns soon.
	 */
	abstract void replace(String shard);

	/**
	 * Makes the driver look for the nodes of the cluster. May block, and fail.
	 */
	void refreshNodes() {
		// Spring Data asks a node each time
	}

	/**
	 * Returns whether a script occupies the thread that executes it.
	 * @return false if it is only sent
	 */
	public abstract boolean isBlocking();

	/**
	 * Names the server that holds a key, as far as is known. Never blocks.
	 * @param name the key, with its prefix
	 * @return the server's name, or an empty one
	 */
	public final String shard(String name) {
		return (this.nodes != null) ? this.nodes.node(name) : ANY_SHARD;
	}

	/**
	 * Creates and starts a factory for one subscription. May block, and fails while Redis
	 * is unavailable.
	 * @return the factory, to be passed to {@link #close(RedisConnectionFactory)}
	 */
	public abstract RedisConnectionFactory openSubscriber();

	/**
	 * Creates and starts a factory each of whose connections is one to the server, which
	 * is not replaced transparently when it breaks.
	 * @param size the largest number of connections
	 * @return the factory, to be passed to {@link #close(RedisConnectionFactory)}
	 */
	abstract RedisConnectionFactory openDedicated(int size);

	/**
	 * Closes a factory that was opened here.
	 * @param factory the factory
	 */
	public abstract void close(RedisConnectionFactory factory);

	/**
	 * Closes a dedicated connection that must not be used again.
	 */
	void discard(RedisConnection connection) {
		connection.close();
	}

	/**
	 * Waits until replicas have everything that a dedicated connection has written.
	 * @return the number of replicas that have it
	 */
	long waitForReplicas(RedisConnection connection, byte[] replicas, byte[] millis) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Returns how servers share the keys.
	 * @return the topology
	 */
	public final Topology topology() {
		return this.topology;
	}

	/**
	 * Describes the server.
	 * @return the endpoint
	 */
	public final RedisEndpoint endpoint() {
		return this.endpoint;
	}

	final Duration commandTimeout() {
		return this.commandTimeout;
	}

	/**
	 * Returns the shorter of two durations.
	 * @param one a duration
	 * @param other another one
	 * @return the shorter one
	 */
	public static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

	@Override
	public void close() {
		if (this.nodes != null) {
			this.nodes.close();
		}
	}

	/**
	 * How many servers execute commands.
	 */
	public enum Topology {

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

		static Topology of(RedisConfiguration configuration) {
			if (RedisConfiguration.isClusterConfiguration(configuration)) {
				return CLUSTER;
			}
			if (RedisConfiguration.isSentinelConfiguration(configuration)) {
				return SENTINEL;
			}
			return RedisConfiguration.isStaticMasterReplicaConfiguration(configuration) ? UNKNOWN : SINGLE;
		}

		/**
		 * Returns whether one server executes everything at any time.
		 * @return false for a cluster, and if it is not known
		 */
		public boolean isOneServer() {
			return this == SINGLE || this == SENTINEL;
		}

	}

}
