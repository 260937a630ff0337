package io.github.lockspring.redis;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Our own Lettuce client beside the application's.
 */
final class LettuceConnections implements RedisConnections {

	/*
	 * Lettuce multiplexes all threads over one connection to each server, so that a
	 * command takes no other thread's time. Some things do, and are kept away from the
	 * callers:
	 *
	 * - The first connection is made under a lock of the factory, one thread after the
	 * other. A thread of its own makes it; all callers wait for the same attempt, each no
	 * longer than its timeout, and a failed attempt fails all of them. `attempt` is null
	 * (never tried, or failed), running, or completed: connected. Afterwards Lettuce
	 * reconnects by itself and refuses commands while it is not connected.
	 *
	 * - The timeout of a command belongs to the factory in Spring Data. Ours makes each
	 * connection object (a handle on the one connection) with the timeout that the
	 * calling thread has left in TIMEOUT.
	 *
	 * - A connection whose other end has vanished without a word looks open until TCP
	 * gives up, a quarter of an hour later. When a server has answered nothing for
	 * GIVE_UP_AFTER timeouts, the connection is thrown away and made anew; in a cluster
	 * the one to that node, which nobody else notices.
	 *
	 * - A master that has become a replica goes on answering, with READONLY, if nobody
	 * closes its connections. Then, too, the connection is made anew: whoever is asked
	 * for the master now knows better.
	 *
	 * A connection that ends takes the commands under way with it, and Lettuce has
	 * another one within milliseconds if the server is there. All commands may be
	 * repeated, so that callers try again for a moment before they give up.
	 */

	private static final Duration SHORT_OUTAGE = Duration.ofMillis(500);

	private static final Duration PAUSE = Duration.ofMillis(10);

	private static final int GIVE_UP_AFTER = 3;

	/** A server that is no master at all does not cost a connection for each command. */
	private static final Duration LEAST_AGE = Duration.ofMillis(250);

	private static final String CONNECT_THREAD = "lock-redis-connect";

	private final Duration commandTimeout;

	private final RedisConfiguration configuration;

	private final DerivedLettuceConfiguration clientConfiguration;

	private final Topology topology;

	private final boolean canSubscribe;

	private final @Nullable ClientResources ownResources;

	private final TimedLettuceConnectionFactory factory;

	private final StringRedisTemplate template;

	private final @Nullable ClusterNodes nodes;

	private final Executor connector;

	private final AtomicReference<@Nullable CompletableFuture<Void>> attempt = new AtomicReference<>();

	private final Silences silences;

	private final AtomicInteger subscriptions = new AtomicInteger(ThreadLocalRandom.current().nextInt());

	private volatile long reconnectedAt = System.nanoTime() - LEAST_AGE.toNanos();

	private volatile boolean closed;

	LettuceConnections(DerivedLettuceConfiguration derived) {
		this(derived, (task) -> DaemonThreads.thread(CONNECT_THREAD, task).start());
	}

	LettuceConnections(DerivedLettuceConfiguration derived, Executor connector) {
		this.connector = connector;
		this.commandTimeout = derived.callTimeout();
		this.configuration = derived.redisConfiguration();
		this.clientConfiguration = derived;
		this.ownResources = derived.ownResources();
		this.canSubscribe = !RedisConfiguration.isStaticMasterReplicaConfiguration(this.configuration);
		this.topology = topology(derived);
		this.silences = new Silences(this.commandTimeout.multipliedBy(GIVE_UP_AFTER));
		this.factory = newFactory(this.configuration);
		this.template = RedisConnections.template(this.factory);
		this.nodes = (this.topology == Topology.CLUSTER) ? new ClusterNodes(this::lookUpNodes) : null;
	}

	// with a read preference, Lettuce finds the master among several nodes by itself, but
	// subscribes at the node that is configured
	private static Topology topology(DerivedLettuceConfiguration derived) {
		RedisConfiguration configuration = derived.redisConfiguration();
		if (RedisConfiguration.isClusterConfiguration(configuration)) {
			return Topology.CLUSTER;
		}
		if (RedisConfiguration.isSentinelConfiguration(configuration)) {
			return Topology.SENTINEL;
		}
		boolean oneNode = derived.getReadFrom().isEmpty()
				&& !RedisConfiguration.isStaticMasterReplicaConfiguration(configuration);
		return oneNode ? Topology.SINGLE : Topology.UNKNOWN;
	}

	@Override
	public String shard(String name) {
		return (this.nodes != null) ? this.nodes.node(RedisKeys.slot(name)) : ANY_LANE;
	}

	/*
	 * The client asks nobody by itself while commands only time out.
	 */
	private Collection<RedisClusterNode> lookUpNodes(boolean doubted) {
		awaitConnection(this.commandTimeout);
		if (doubted) {
			((RedisClusterClient) this.factory.getRequiredNativeClient()).refreshPartitions();
		}
		return ClusterNodes.ask(this.template);
	}

	private void doubtNodes() {
		if (this.nodes != null) {
			this.nodes.probe();
		}
	}

	@Override
	public <T extends @Nullable Object> T call(String shard, Function<StringRedisTemplate, T> commands,
			Duration timeout) {
		long start = System.nanoTime();
		Duration disconnected = null;
		while (true) {
			Duration passed = Duration.ofNanos(System.nanoTime() - start);
			awaitConnection(timeout.minus(passed));
			long sent = start + passed.toNanos();
			TimedLettuceConnectionFactory.TIMEOUT.set(Math.max(1, timeout.minus(passed).toMillis()));
			try {
				T answer = commands.apply(this.template);
				this.silences.answered(shard);
				return answer;
			}
			catch (QueryTimeoutException ex) {
				if (this.silences.unanswered(shard, start)) {
					connectAnew(shard);
				}
				doubtNodes();
				throw ex;
			}
			catch (RuntimeException ex) {
				if (LettuceFailures.isAnswer(ex)) {
					this.silences.answered(shard);
				}
				if (LettuceFailures.isDisconnection(ex) || PassingTrouble.isElsewhere(ex)) {
					doubtNodes();
				}
				disconnected = (disconnected != null) ? disconnected : Duration.ofNanos(System.nanoTime() - start);
				boolean readOnly = PassingTrouble.isReadOnly(ex) && (this.reconnectedAt - sent > 0 || reconnect());
				if (!(readOnly || LettuceFailures.isDisconnection(ex)) || passed.compareTo(timeout.dividedBy(2)) > 0
						|| passed.minus(disconnected).compareTo(SHORT_OUTAGE) > 0) {
					throw ex;
				}
			}
			finally {
				TimedLettuceConnectionFactory.TIMEOUT.remove();
			}
			LockSupport.parkNanos(PAUSE.toNanos());
		}
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
		try {
			present.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw new RedisConnectionFailureException("Unable to connect to Redis", ex.getCause());
		}
		catch (TimeoutException ex) {
			throw new QueryTimeoutException("No connection to Redis", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new RedisSystemException("Interrupted while waiting for a connection to Redis", ex);
		}
	}

	private void connect(CompletableFuture<Void> mine) {
		if (this.closed) {
			throw new IllegalStateException("The lock store is closed");
		}
		this.factory.start();
		try {
			this.factory.getConnection().close();
		}
		catch (RuntimeException ex) {
			if (!LettuceFailures.isWorthAnotherTry(ex)) {
				throw ex;
			}
			this.factory.getConnection().close();
		}
		mine.complete(null);
		if (this.closed) {
			this.factory.destroy();
		}
	}

	private void connectAnew(String shard) {
		if (this.topology == Topology.CLUSTER && !shard.equals(ANY_LANE)) {
			inBackground(new CompletableFuture<>(), () -> this.factory.disconnect(shard));
		}
		else {
			reconnect();
		}
	}

	/**
	 * Makes the connection anew, unless that was done a moment ago.
	 * @return whether there is to be another one
	 */
	private boolean reconnect() {
		CompletableFuture<Void> connected = this.attempt.get();
		long now = System.nanoTime();
		if (connected == null || !connected.isDone()) {
			return true;
		}
		if (now - this.reconnectedAt < LEAST_AGE.toNanos()) {
			return false;
		}
		CompletableFuture<Void> next = new CompletableFuture<>();
		if (!this.attempt.compareAndSet(connected, next)) {
			return true;
		}
		this.reconnectedAt = now;
		this.silences.forget();
		inBackground(next, () -> {
			this.factory.resetConnection();
			connect(next);
		});
		return true;
	}

	@Override
	public void suspect() {
		// a replica that is away is suspicious for as long as it is, and no more
		if (this.topology == Topology.SENTINEL
				&& System.nanoTime() - this.reconnectedAt > this.commandTimeout.toNanos() * GIVE_UP_AFTER) {
			reconnect();
		}
	}

	@Override
	public DedicatedConnections dedicated(int size) {
		return new LettuceDedicatedConnections(this.configuration, this.clientConfiguration, size);
	}

	/*
	 * Whatever happens to the attempt, also where the machine has no thread for it, it
	 * ends: callers would otherwise wait for it for ever.
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
		// first the slot, so that whoever is told can try again
		this.attempt.compareAndSet(mine, null);
		mine.completeExceptionally(ex);
	}

	@Override
	public Optional<RedisConnectionFactory> openSubscriber() {
		if (!this.canSubscribe) {
			return Optional.empty();
		}
		TimedLettuceConnectionFactory subscriber = newFactory(subscriberConfiguration());
		subscriber.setShareNativeConnection(false);
		subscriber.start();
		return Optional.of(subscriber);
	}

	/*
	 * In a cluster any node will do. The driver would choose the one with the fewest
	 * clients, again and again that which does not answer.
	 */
	private RedisConfiguration subscriberConfiguration() {
		if (this.configuration instanceof RedisClusterConfiguration cluster) {
			awaitConnection(this.commandTimeout);
			return ClusterNodes.oneOf(ClusterNodes.ask(this.template), cluster, this.subscriptions.getAndIncrement());
		}
		return this.configuration;
	}

	@Override
	public void closeSubscriber(RedisConnectionFactory subscriber) {
		((TimedLettuceConnectionFactory) subscriber).destroy();
	}

	@Override
	public boolean canSubscribe() {
		return this.canSubscribe;
	}

	@Override
	public Topology topology() {
		return this.topology;
	}

	@Override
	public void close() {
		this.closed = true;
		if (this.nodes != null) {
			this.nodes.close();
		}
		this.factory.destroy();
		if (this.ownResources != null) {
			this.ownResources.shutdown(0, this.commandTimeout.toMillis(), TimeUnit.MILLISECONDS);
		}
	}

	private TimedLettuceConnectionFactory newFactory(RedisConfiguration configuration) {
		TimedLettuceConnectionFactory factory = new TimedLettuceConnectionFactory(configuration,
				this.clientConfiguration);
		factory.setEarlyStartup(false);
		factory.setValidateConnection(false);
		factory.afterPropertiesSet();
		return factory;
	}

}
