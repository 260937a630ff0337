package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadPoolExecutor;

import io.github.lockspring.internal.FirstConnection;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.redis.internal.RedisServerCheck;
import io.github.lockspring.redis.internal.client.DaemonThreads;
import io.github.lockspring.redis.internal.client.DedicatedConnections;
import io.github.lockspring.redis.internal.client.RedisConnections;
import io.github.lockspring.redis.internal.client.DerivedConnections;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.redis.internal.client.RedisScriptExecutor;
import io.github.lockspring.redis.internal.client.ReplicatedScriptExecutor;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Locks on Redis 6.2 or later, or Valkey. A lock is a string key, set with NX and PX,
 * whose value is the owner token. It excludes, and is excluded by, every other client
 * that locks in this way.
 * <p>
 * Thread-safe. Uses the address and the credentials of the application's connection
 * factory, but its own connections. Does not connect before {@link #connected} or the
 * first request. A request that blocks takes no longer than its timeout and the command
 * timeout; over Lettuce it is sent only, and may remain without an answer.
 *
 * @since 0.1
 * @see <a href=
 * "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Distributed
 * Locks with Redis</a>
 */
public final class RedisLockStore implements LockStore {

	private static final Logger logger = LoggerFactory.getLogger(RedisLockStore.class);

	/** Messages and lookups that wait; later ones would be too late. */
	private static final int MAX_WAITING = 1000;

	private static final int LOOKUP_THREADS = 4;

	/** Most replies take a millisecond; callers should learn of an outage soon. */
	private static final Duration DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(1);

	private static final int ACQUIRE_THREADS = 16;

	// for the watchdog, and for checks before a hand-off or a commit
	private static final int RENEW_THREADS = 4;

	private static final int RELEASE_THREADS = 4;

	/** Requests that wait for such a thread; later ones would be too late. */
	private static final int MAX_QUEUE = 10_000;

	private final RedisKeys keys;

	private final RedisStoreSettings settings;

	private final StoreTraits traits;

	private final RedisConnections connections;

	/** Whether the server of a key knows every subscriber of an inbox, for the script. */
	private final String exactCount;

	/** Null unless replicas acknowledge. */
	private final @Nullable DedicatedConnections dedicated;

	/** The connections themselves or, if replicas acknowledge, what waits for these. */
	private final RedisScriptExecutor acquireScripts;

	private final RedisScriptExecutor renewScripts;

	private final RedisScriptExecutor releaseScripts;

	private final BatchRenewal renewal;

	private final RedisInspector inspector;

	private final FirstConnection first;

	// one for each instance that uses the store, so hardly ever more than one
	private final Set<RedisInbox> openInboxes = ConcurrentHashMap.newKeySet();

	private final ThreadPoolExecutor publisher = DaemonThreads.onDemand("lock-redis-publisher", 1, MAX_WAITING);

	private final ThreadPoolExecutor lookups = DaemonThreads.onDemand("lock-redis-lookup", LOOKUP_THREADS, MAX_WAITING);

	private RedisLockStore(RedisConnections connections, RedisStoreSettings settings) {
		this.connections = connections;
		boolean oneServer = connections.topology().isOneServer();
		this.exactCount = oneServer ? "1" : "0";
		this.settings = settings;
		this.traits = StoreTraits.exact()
			.withBlocking(connections.isBlocking() && settings.replicaAcks() == 0)
			.withOrdered(oneServer && !connections.isBlocking() && settings.replicaAcks() == 0);
		this.keys = new RedisKeys(settings.keyPrefix());
		int replicas = settings.replicaAcks();
		// releases must use the same connections as acquisitions: a replaced master that
		// does not know it yet cannot release what its successor granted
		this.dedicated = (replicas == 0) ? null
				: new DedicatedConnections(connections, ACQUIRE_THREADS + RENEW_THREADS + RELEASE_THREADS);
		this.acquireScripts = scripts("lock-redis-acquire", ACQUIRE_THREADS, replicas);
		this.renewScripts = scripts("lock-redis-renew", RENEW_THREADS, replicas);
		this.releaseScripts = scripts("lock-redis-release", RELEASE_THREADS, 0);
		this.renewal = new BatchRenewal(this.renewScripts, this.keys, !oneServer);
		this.inspector = new RedisInspector(this.keys, connections, this.releaseScripts, this.exactCount, this::publish,
				this.lookups);
		this.first = new FirstConnection("lock-redis-first", this::sendFirst, settings.connectTimeout(),
				(problem) -> problem.getCause() == null || RedisErrors.isTimeout(problem));
	}

	private RedisScriptExecutor scripts(String threadName, int threads, int replicas) {
		return (this.dedicated == null) ? this.connections
				: new ReplicatedScriptExecutor(DaemonThreads.onDemand(threadName, threads, MAX_QUEUE), this.dedicated,
						replicas, this.settings.replicaAckTimeout(), this.settings.commandTimeout());
	}

	/**
	 * Begins to build a store.
	 * @param connectionFactory provides the address and the credentials of Redis; need
	 * not be started, and stays the application's to close
	 * @return the builder
	 */
	public static Builder builder(RedisConnectionFactory connectionFactory) {
		return new Builder(connectionFactory);
	}

	@Override
	public StoreTraits traits() {
		return this.traits;
	}

	@Override
	public CompletionStage<@Nullable Void> connected() {
		return this.first.connected();
	}

	/**
	 * Sends a script that changes nothing, in the way of an acquisition; in a cluster to
	 * one node, whose driver connects to the others as well.
	 */
	private CompletionStage<?> sendFirst() {
		String noLock = this.keys.lock("");
		return this.acquireScripts
			.execute(RedisScripts.RENEW, List.of(noLock), new Object[] { "-", "1" }, this.settings.commandTimeout())
			.thenApply((reply) -> true)
			.exceptionallyCompose((ex) -> isPassing(ex) ? Stages.done(true) : CompletableFuture.failedFuture(ex));
	}

	/** Such as that of a server that is loading its data: it is connected. */
	private static boolean isPassing(Throwable failure) {
		return RedisErrors.isErrorReply(failure) && Stages.unavailable(failure).getRemedy() == null;
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		Duration limit = RedisConnections.shorter(timeout, this.settings.commandTimeout());
		long end = System.nanoTime() + limit.toNanos();
		return attempt(request, limit).exceptionallyCompose((failure) -> {
			Duration left = Duration.ofNanos(end - System.nanoTime());
			// an idle connection was dead, and has been replaced; the token is the same
			return (RedisErrors.isTimeout(failure) && left.compareTo(limit.dividedBy(4)) > 0) ? attempt(request, left)
					: CompletableFuture.failedFuture(failure);
		});
	}

	private CompletionStage<AcquireResult> attempt(AcquireRequest request, Duration timeout) {
		Object[] args = { request.token().toString(), millis(request.ttl()), request.queue() ? "1" : "0" };
		return this.acquireScripts.execute(RedisScripts.ACQUIRE, this.keys.all(request.key()), args, timeout)
			.thenApply(this::acquired);
	}

	private AcquireResult acquired(String reply) {
		return RedisErrors.parse(reply, 4, (words) -> switch (words[0]) {
			case "0" -> busy(words);
			case "1" -> new AcquireResult.Acquired(Long.parseLong(words[1]));
			case "2" -> {
				publishAsync(words[3]);
				yield busy(words);
			}
			default -> throw RedisErrors.unexpected(reply);
		});
	}

	private static AcquireResult busy(String[] words) {
		return new AcquireResult.Busy(Long.parseLong(words[1]), Long.parseLong(words[2]));
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		// a lock that is kept must survive a failover, like an acquired one
		RedisScriptExecutor scripts = request.keep().isZero() ? this.releaseScripts : this.acquireScripts;
		return scripts.execute(RedisScripts.RELEASE, this.keys.all(request.key()), releaseArgs(request), timeout)
			.thenApply(this::released);
	}

	private Object[] releaseArgs(ReleaseRequest request) {
		return new Object[] { request.token().toString(), String.valueOf(request.lastFencingToken()),
				millis(request.keep()), this.exactCount };
	}

	private ReleaseResult released(String reply) {
		return RedisErrors.parse(reply, 3, (words) -> switch (words[0]) {
			case "0" -> new ReleaseResult.NotOwner(Long.parseLong(words[1]));
			case "1" -> new ReleaseResult.Released();
			case "2" -> {
				if (words[1].equals("0")) {
					publishAsync(words[2]);
				}
				yield new ReleaseResult.Released();
			}
			default -> throw RedisErrors.unexpected(reply);
		});
	}

	/*
	 * For servers where scripts may not publish. Tried once: waiters retry anyway, and a
	 * late message is useless.
	 */
	private void publishAsync(String message) {
		try {
			this.publisher.execute(() -> publish(message));
		}
		catch (RuntimeException | Error ex) {
			// too many, closed meanwhile, or no thread: the reply is valid all the same
			logger.debug("An instance was not notified: " + message, ex);
		}
	}

	private void publish(String message) {
		try {
			InboxMessages.addressee(message)
				.ifPresent((token) -> this.connections
					.run((template) -> template.convertAndSend(this.keys.inbox(token.instance()), message)));
		}
		catch (RuntimeException ex) {
			logger.debug("An instance was not notified: " + message, ex);
		}
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		return this.renewal.renew(requests, timeout);
	}

	@Override
	public String shard(String key) {
		return this.connections.shard(this.keys.lock(key));
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		InboxMessages messages = new InboxMessages(this.keys, instance, listener, this.settings.replicaAcks() > 0);
		return Optional.of(new RedisInbox(() -> new InboxSubscription(this.connections, this.settings.commandTimeout(),
				this.keys.inbox(instance), messages), this.openInboxes));
	}

	/**
	 * Asks the present server, in a cluster each master.
	 */
	@Override
	public Optional<StoreHealth> health(Duration timeout) {
		StoreHealth.Server server = new RedisServerCheck(this.connections, this.settings.replicaAcks()).check("redis");
		return Optional.of(new StoreHealth(List.of(server), 1, true));
	}

	@Override
	public Optional<LockStoreInspector> inspector() {
		return Optional.of(this.inspector);
	}

	@Override
	public void close() {
		this.first.close();
		this.openInboxes.forEach(RedisInbox::close);
		this.publisher.shutdownNow();
		this.lookups.shutdownNow();
		this.acquireScripts.close();
		this.renewScripts.close();
		this.releaseScripts.close();
		if (this.dedicated != null) {
			this.dedicated.close();
		}
		this.connections.close();
	}

	// a duration below a millisecond is still one: zero would mean none
	private static String millis(Duration duration) {
		return String.valueOf(duration.isZero() ? 0 : Math.max(1, duration.toMillis()));
	}

	/**
	 * Builds a {@link RedisLockStore}. Not thread-safe.
	 */
	public static final class Builder {

		private final RedisConnectionFactory connectionFactory;

		private @Nullable String name;

		private String keyPrefix = StoreOptions.DEFAULT_KEY_PREFIX;

		private Duration commandTimeout = DEFAULT_COMMAND_TIMEOUT;

		private Duration connectTimeout = StoreOptions.DEFAULT_CONNECT_TIMEOUT;

		private int replicaAcks;

		private Builder(RedisConnectionFactory connectionFactory) {
			this.connectionFactory = Objects.requireNonNull(connectionFactory, "connectionFactory");
		}

		/**
		 * Names the connection factory in messages, for an application that has several.
		 * @param name the name of its bean, for example
		 * @return this builder
		 */
		public Builder name(String name) {
			this.name = name;
			return this;
		}

		/**
		 * Sets the prefix of all keys, {@code lock:} by default.
		 * @param keyPrefix the prefix; not empty, without braces
		 * @return this builder
		 */
		public Builder keyPrefix(String keyPrefix) {
			this.keyPrefix = keyPrefix;
			return this;
		}

		/**
		 * Sets the longest time for one command, a second by default. A command for a
		 * lock never takes longer than a third of its ttl.
		 * @param commandTimeout the timeout, at least a millisecond
		 * @return this builder
		 */
		public Builder commandTimeout(Duration commandTimeout) {
			this.commandTimeout = commandTimeout;
			return this;
		}

		/**
		 * Sets the longest time that the first lock waits for a connection, five seconds
		 * by default.
		 * @param connectTimeout the timeout, at least a millisecond
		 * @return this builder
		 */
		public Builder connectTimeout(Duration connectTimeout) {
			this.connectTimeout = connectTimeout;
			return this;
		}

		/**
		 * Sets how many replicas must have a lock, and each renewal of it, before it
		 * counts; none by default. They are waited for during half of the command
		 * timeout.
		 * @param replicaAcks the number of replicas, 0 for none
		 * @return this builder
		 */
		public Builder replicaAcks(int replicaAcks) {
			this.replicaAcks = replicaAcks;
			return this;
		}

		/**
		 * Creates the store. Does not connect.
		 * @return the store, to be closed by the caller
		 * @throws IllegalArgumentException if an option is invalid
		 * @throws UnsupportedOperationException if replicas must acknowledge locks and
		 * that is not possible with this connection factory
		 */
		public RedisLockStore build() {
			RedisStoreSettings settings = new RedisStoreSettings(this.keyPrefix, this.commandTimeout,
					this.connectTimeout, this.replicaAcks);
			RedisConnections connections = DerivedConnections.create(this.connectionFactory, this.name,
					this.commandTimeout, this.connectTimeout);
			RedisConnections.Topology topology = connections.topology();
			if (this.replicaAcks > 0 && !topology.isOneServer()) {
				connections.close();
				throw new UnsupportedOperationException((topology == RedisConnections.Topology.CLUSTER)
						? "replicas of a Redis Cluster cannot be waited for"
						: "the connection factory does not say which server is the master, so its replicas cannot be "
								+ "waited for");
			}
			return new RedisLockStore(connections, settings);
		}

	}

}
