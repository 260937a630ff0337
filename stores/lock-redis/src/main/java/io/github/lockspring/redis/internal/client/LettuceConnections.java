package io.github.lockspring.redis.internal.client;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import io.github.lockspring.internal.base.DaemonThreadFactory;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.cluster.RedisClusterClient;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * A Lettuce client beside the application's.
 */
final class LettuceConnections implements RedisConnections {

	/*
	 * Lettuce multiplexes all threads over one connection to each server, so a command
	 * occupies no other thread. Some operations do block, and are kept away from callers:
	 *
	 * - The first connection is created under a lock of the factory, by one thread after
	 * the other. Here a thread of its own does that. All callers wait for the same
	 * attempt, each no longer than its timeout, and a failed attempt fails all of them.
	 * `attempt` is null (never tried, or failed), running, or completed: connected.
	 * Afterwards Lettuce reconnects automatically and rejects commands meanwhile.
	 *
	 * - In Spring Data the command timeout belongs to the factory. Ours creates each
	 * connection object (a handle on the one connection) with the timeout that the
	 * calling thread has left in TIMEOUT.
	 *
	 * - A connection whose other end has vanished silently seems open until TCP gives up,
	 * a quarter of an hour later. When a server has not replied for UNRESPONSIVE_TIMEOUTS
	 * timeouts, its connection is replaced; in a cluster only the one to that node.
	 *
	 * - A master that has become a replica continues to reply, with READONLY, as long as
	 * its connections stay open. Its connection is replaced too: the sentinels name the
	 * new master by then.
	 *
	 * A connection that breaks fails its running commands, and Lettuce has another one
	 * within milliseconds if the server is up. All commands may be repeated, so callers
	 * retry for a moment before they fail.
	 */

	private static final Duration MAX_OUTAGE = Duration.ofMillis(500);

	private static final Duration PAUSE = Duration.ofMillis(10);

	private static final int UNRESPONSIVE_TIMEOUTS = 3;

	/** Otherwise a server that is no master would cost a connection per command. */
	private static final Duration MIN_CONNECTION_AGE = Duration.ofMillis(250);

	private final Duration commandTimeout;

	private final DerivedLettuceConfiguration derived;

	private final Topology topology;

	private final TimedLettuceConnectionFactory factory;

	private final StringRedisTemplate template;

	private final @Nullable ClusterNodes nodes;

	private final Executor connector;

	private final AtomicReference<@Nullable CompletableFuture<Void>> attempt = new AtomicReference<>();

	private final UnresponsiveNodes unresponsive;

	private final AtomicInteger subscriptions = new AtomicInteger(ThreadLocalRandom.current().nextInt());

	private volatile long reconnectedAt = System.nanoTime() - MIN_CONNECTION_AGE.toNanos();

	/**
	 * The shards that have run a script without a wait, and know it. Sent by its digest
	 * to one that does not, it would be carried out after the commands that follow it.
	 */
	private final Set<String> loaded = ConcurrentHashMap.newKeySet();

	/** At the other end of a new connection there may be a new server. */
	private final RedisConnectionStateListener forgetting = new RedisConnectionStateListener() {

		@Override
		public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
			LettuceConnections.this.loaded.clear();
		}

	};

	/** Whether a server has refused a script that was sent by its digest. */
	private volatile boolean refusesAsync;

	private volatile boolean closed;

	private final AtomicBoolean disconnected = new AtomicBoolean();

	LettuceConnections(DerivedLettuceConfiguration derived) {
		this(derived, (task) -> new DaemonThreadFactory("lock-redis-connect").newThread(task).start());
	}

	LettuceConnections(DerivedLettuceConfiguration derived, Executor connector) {
		this.connector = connector;
		this.commandTimeout = derived.commandTimeout();
		this.derived = derived;
		this.topology = derived.topology();
		this.unresponsive = new UnresponsiveNodes(this.commandTimeout.multipliedBy(UNRESPONSIVE_TIMEOUTS));
		this.factory = new TimedLettuceConnectionFactory(derived.redisConfiguration(), derived.reconnecting(), true);
		this.template = EvalFallbackScriptExecutor.template(this.factory);
		this.nodes = (this.topology == Topology.CLUSTER) ? new ClusterNodes(this::loadNodes) : null;
	}

	@Override
	public String shard(String name) {
		return (this.nodes != null) ? this.nodes.node(name) : ANY_SHARD;
	}

	/*
	 * The client does not refresh its topology while commands only time out.
	 */
	private Collection<RedisClusterNode> loadNodes(boolean suspect) {
		awaitConnection(this.commandTimeout);
		if (suspect) {
			((RedisClusterClient) this.factory.getRequiredNativeClient()).refreshPartitions();
		}
		return ClusterNodes.load(this.template);
	}

	private void suspectNodes() {
		if (this.nodes != null) {
			this.nodes.suspect();
		}
	}

	@Override
	public <T extends @Nullable Object> T call(String shard, Function<StringRedisTemplate, T> commands,
			Duration timeout) {
		long start = System.nanoTime();
		Duration outageStart = null;
		while (true) {
			Duration passed = Duration.ofNanos(System.nanoTime() - start);
			awaitConnection(timeout.minus(passed));
			long sent = System.nanoTime();
			try {
				return send(shard, commands, timeout.minusNanos(sent - start));
			}
			catch (RuntimeException ex) {
				boolean repeatable = handle(ex, shard, start, sent);
				outageStart = (outageStart != null) ? outageStart : Duration.ofNanos(System.nanoTime() - start);
				if (!repeatable || passed.compareTo(timeout.dividedBy(2)) > 0
						|| passed.minus(outageStart).compareTo(MAX_OUTAGE) > 0) {
					throw ex;
				}
			}
			LockSupport.parkNanos(PAUSE.toNanos());
		}
	}

	/*
	 * On the connection that all commands to that server share, so they keep their order.
	 */
	@Override
	public Optional<CompletionStage<String>> executeAsync(RedisScript<String> script, List<String> keys,
			Object[] args) {
		CompletableFuture<Void> connected = this.attempt.get();
		if (this.refusesAsync || connected == null || !connected.isDone() || connected.isCompletedExceptionally()) {
			return Optional.empty();
		}
		String shard = shard(keys.get(0));
		// in a cluster whose nodes are not known this may be any of them
		boolean known = (this.nodes == null || !shard.equals(ANY_SHARD)) && this.loaded.contains(shard);
		return this.factory.eval(script, known, keys, args)
			.map((reply) -> reply.whenComplete((text, failure) -> replied(shard, failure)));
	}

	private void replied(String shard, @Nullable Throwable failure) {
		if (failure == null) {
			this.loaded.add(shard);
			this.unresponsive.replied(shard);
		}
		else if (EvalFallbackScriptExecutor.isRefusal(failure)) {
			this.refusesAsync = true;
		}
		else {
			this.loaded.remove(shard);
		}
	}

	private <T extends @Nullable Object> T send(String shard, Function<StringRedisTemplate, T> commands,
			Duration timeout) {
		TimedLettuceConnectionFactory.TIMEOUT.set(Math.max(1, timeout.toMillis()));
		try {
			T result = commands.apply(this.template);
			this.unresponsive.replied(shard);
			return result;
		}
		finally {
			TimedLettuceConnectionFactory.TIMEOUT.remove();
		}
	}

	/**
	 * Handles a failed command.
	 * @param start when the call began
	 * @param sent when the command was sent
	 * @return whether the command may succeed if it is repeated at once
	 */
	private boolean handle(RuntimeException failure, String shard, long start, long sent) {
		if (failure instanceof QueryTimeoutException) {
			if (this.unresponsive.timedOut(shard, start)) {
				replaceConnection(shard);
			}
			suspectNodes();
			return false;
		}
		if (LettuceErrors.isErrorReply(failure)) {
			this.unresponsive.replied(shard);
		}
		boolean disconnected = LettuceErrors.isDisconnection(failure);
		if (disconnected || RedisErrors.isTopologyChange(failure)) {
			suspectNodes();
		}
		return disconnected || RedisErrors.isReadOnly(failure) && (this.reconnectedAt - sent > 0 || reconnect());
	}

	private void awaitConnection(Duration timeout) {
		CompletableFuture<Void> present = this.attempt.get();
		if (present == null) {
			CompletableFuture<Void> mine = new CompletableFuture<>();
			present = this.attempt.compareAndExchange(null, mine);
			if (present == null) {
				present = mine;
				inBackground(mine, () -> connect(mine));
			}
		}
		if (present.isDone() && !present.isCompletedExceptionally()) {
			return;
		}
		DaemonThreads.await(present, timeout);
	}

	private void connect(CompletableFuture<Void> mine) {
		if (this.closed) {
			throw new IllegalStateException("The lock store is closed");
		}
		this.factory.start();
		AbstractRedisClient client = this.factory.getRequiredNativeClient();
		client.removeListener(this.forgetting);
		client.addListener(this.forgetting);
		LettuceErrors.connect(this.factory::getConnection).close();
		mine.complete(null);
		disconnectIfClosed();
	}

	private void replaceConnection(String shard) {
		if (this.topology == Topology.CLUSTER && !shard.equals(ANY_SHARD)) {
			inBackground(new CompletableFuture<>(), () -> this.factory.disconnect(shard));
		}
		else {
			reconnect();
		}
	}

	/**
	 * Replaces the connection, unless that happened a moment ago.
	 * @return whether there is, or will be, a new one
	 */
	private boolean reconnect() {
		CompletableFuture<Void> connected = this.attempt.get();
		long now = System.nanoTime();
		if (connected == null || !connected.isDone()) {
			return true;
		}
		if (now - this.reconnectedAt < MIN_CONNECTION_AGE.toNanos()) {
			return false;
		}
		CompletableFuture<Void> next = new CompletableFuture<>();
		if (!this.attempt.compareAndSet(connected, next)) {
			return true;
		}
		this.reconnectedAt = now;
		this.unresponsive.reset();
		inBackground(next, () -> {
			this.factory.resetConnection();
			connect(next);
		});
		return true;
	}

	@Override
	public void suspect() {
		// a missing replica alone must not cause one reconnection after the other
		if (this.topology == Topology.SENTINEL
				&& System.nanoTime() - this.reconnectedAt > this.commandTimeout.toNanos() * UNRESPONSIVE_TIMEOUTS) {
			reconnect();
		}
	}

	@Override
	public DedicatedConnections dedicated(int size) {
		return new LettuceDedicatedConnections(this.derived, size);
	}

	/*
	 * The attempt always ends, even if the machine has no thread for it: callers would
	 * otherwise wait for it for ever.
	 */
	private void inBackground(CompletableFuture<Void> mine, Runnable task) {
		try {
			this.connector.execute(() -> {
				try {
					task.run();
				}
				catch (RuntimeException | Error ex) {
					failed(mine, ex);
				}
			});
		}
		catch (RuntimeException | Error ex) {
			failed(mine, ex);
		}
	}

	private void failed(CompletableFuture<Void> mine, Throwable ex) {
		// before callers are notified, so they can try again
		this.attempt.compareAndSet(mine, null);
		mine.completeExceptionally(new RedisConnectionFailureException("Unable to connect to Redis", ex));
		disconnectIfClosed();
	}

	@Override
	public RedisConnectionFactory openSubscriber() {
		TimedLettuceConnectionFactory subscriber = new TimedLettuceConnectionFactory(subscriberConfiguration(),
				this.derived.reconnecting(), false);
		subscriber.start();
		return subscriber;
	}

	/*
	 * In a cluster any node will do. The driver would choose the one with the fewest
	 * clients, which is repeatedly the one that does not reply.
	 */
	private RedisConfiguration subscriberConfiguration() {
		RedisConfiguration configuration = this.derived.redisConfiguration();
		if (configuration instanceof RedisClusterConfiguration cluster) {
			awaitConnection(this.commandTimeout);
			return ClusterNodes.oneOf(ClusterNodes.load(this.template), cluster, this.subscriptions.getAndIncrement());
		}
		return configuration;
	}

	@Override
	public void closeSubscriber(RedisConnectionFactory subscriber) {
		((TimedLettuceConnectionFactory) subscriber).destroy();
	}

	@Override
	public boolean canSubscribe() {
		return !RedisConfiguration.isStaticMasterReplicaConfiguration(this.derived.redisConfiguration());
	}

	@Override
	public Topology topology() {
		return this.topology;
	}

	/*
	 * While a thread connects, it has the factory's lock, perhaps for as long as a server
	 * does not reply. It then closes the connection itself.
	 */
	@Override
	public void close() {
		this.closed = true;
		if (this.nodes != null) {
			this.nodes.close();
		}
		CompletableFuture<Void> present = this.attempt.get();
		if (present == null || present.isDone()) {
			disconnectIfClosed();
		}
	}

	private void disconnectIfClosed() {
		if (this.closed && this.disconnected.compareAndSet(false, true)) {
			this.factory.destroy();
			this.derived.shutdownResources();
		}
	}

}
