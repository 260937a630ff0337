package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.FirstConnection;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.redis.internal.client.DerivedConnections;
import io.github.lockspring.redis.internal.client.RedisConnections;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.ReleaseResult.NotOwner;
import io.github.lockspring.store.LockStore.ReleaseResult.Released;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.store.StoreHealth.Server;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Locks on a majority of several independent Redis servers (Redis 6.2 or later, or
 * Valkey), known as Redlock. A minority of them may be down, slow, or may have lost its
 * data. An acquisition sends two scripts to all servers at once, one after the other; a
 * renewal and a release send one.
 * <p>
 * There is no queue, since several servers cannot hand over a lock atomically: waiters
 * retry with jitter.
 * <p>
 * Besides a majority this requires that the clocks of the servers and of the callers run
 * at the same speed within one percent, and that a server loses data only when it
 * restarts.
 * <p>
 * Thread-safe. Does not connect before {@link #connected} or the first request. A request
 * takes no longer than its timeout and the command timeout; the timeout should be at most
 * a third of the requested ttl. No thread waits for a majority.
 *
 * @since 0.1
 * @see <a href=
 * "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Distributed
 * Locks with Redis</a>
 */
public final class RedlockLockStore implements LockStore {

	/** Most replies take a millisecond; callers should learn of an outage soon. */
	private static final Duration DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(1);

	/** The ttl of locks by default. */
	private static final Duration DEFAULT_MAX_TTL = Duration.ofSeconds(30);

	private final Quorum quorum;

	private final RedlockSettings settings;

	private final RedlockRequests requests;

	private final LongSupplier nanoTime;

	private final RedlockRenewal renewal;

	private final FirstConnection first;

	RedlockLockStore(List<RedlockNodeClient> nodes, RedlockSettings settings, LongSupplier nanoTime) {
		this.quorum = new Quorum(nodes);
		this.settings = settings;
		this.requests = new RedlockRequests(this.quorum, settings);
		this.renewal = new RedlockRenewal(this.quorum, this.requests);
		this.nanoTime = nanoTime;
		this.first = new FirstConnection("lock-redlock-first", this::sendFirst, settings.connectTimeout(),
				RedlockLockStore::mayReplyLater);
	}

	/**
	 * Begins to build a store.
	 * @param nodes provide the address and the credentials of each server, of at least
	 * three and an odd number; need not be started, and stay the caller's to close
	 * @return the builder
	 */
	public static Builder builder(List<? extends RedisConnectionFactory> nodes) {
		return new Builder(nodes);
	}

	/**
	 * Creates a store. Does not connect.
	 */
	static RedlockLockStore create(List<RedisConnectionFactory> nodes, RedlockSettings settings) {
		if (nodes.size() < 3 || nodes.size() % 2 == 0) {
			throw new IllegalArgumentException("Redlock needs 3, 5 or another odd number of nodes, but there are "
					+ nodes.size() + ": an even number tolerates no more failures than the odd number below it");
		}
		List<RedlockNodeClient> clients = new ArrayList<>();
		Set<String> names = new HashSet<>();
		for (RedisConnectionFactory node : nodes) {
			RedisConnections connections = DerivedConnections.create(node, null, settings.commandTimeout(),
					settings.connectTimeout());
			String name = connections.endpoint().name().orElse("#" + (names.size() + 1));
			clients.add(new RedlockNodeClient(name, connections));
			if (!names.add(name)) {
				clients.forEach((client) -> client.close(System.nanoTime()));
				throw new IllegalArgumentException(
						"Each Redlock node must be a server of its own, but there are two called " + name);
			}
		}
		return new RedlockLockStore(clients, settings, System::nanoTime);
	}

	/**
	 * Completes with a connection to a majority of the nodes. Those to the others are
	 * opened meanwhile and afterwards.
	 */
	@Override
	public CompletionStage<@Nullable Void> connected() {
		return this.first.connected();
	}

	/** Whether the nodes, or some of those that failed, did not reply in time. */
	private static boolean mayReplyLater(LockUnavailableException problem) {
		Throwable[] failures = problem.getSuppressed();
		return failures.length == 0 || Stream.of(failures).anyMatch(RedisErrors::isTimeout);
	}

	private CompletionStage<?> sendFirst() {
		return this.quorum
			.ask(this.requests.first(this.settings.connectTimeout()),
					(replies) -> this.quorum.isReached(replies.received().size())
							|| this.quorum.isBlocked(replies.failures().size()))
			.thenAccept((replies) -> {
				int replied = replies.received().size();
				if (!this.quorum.isReached(replied)) {
					throw replies.unavailable("%d of %d nodes replied, %d needed".formatted(replied, this.quorum.size(),
							this.quorum.majority()), (reply) -> null);
				}
			});
	}

	/**
	 * Returns traits without an order: a majority may reply before a node has carried out
	 * an earlier request.
	 */
	@Override
	public StoreTraits traits() {
		return StoreTraits.exact();
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		if (isTooLong(request.ttl())) {
			return CompletableFuture.failedFuture(tooLong(request.ttl()));
		}
		return new RedlockAcquisition(this.quorum, this.requests, this.renewal, this.settings, this.nanoTime, request,
				limit(timeout))
			.acquire();
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		long fencingToken = this.renewal.end(request.token());
		return this.quorum
			.ask(this.requests.release(request, fencingToken, nodeTimeout(timeout)),
					(replies) -> this.quorum.isReached(replies.count(Released.class::isInstance))
							|| this.quorum.isBlocked(replies.count(NotOwner.class::isInstance)))
			.thenApply((replies) -> {
				int released = replies.count(Released.class::isInstance);
				if (this.quorum.isReached(released)) {
					return new Released();
				}
				if (this.quorum.isBlocked(replies.count(NotOwner.class::isInstance))) {
					return new NotOwner(replies.all(NotOwner.class).mapToLong(NotOwner::fencingToken).max().orElse(0));
				}
				throw replies.unavailable(
						"%d of %d nodes released the lock, %d needed".formatted(released, this.quorum.size(),
								this.quorum.majority()),
						(reply) -> (reply instanceof NotOwner) ? "does not have the lock" : null);
			});
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		if (requests.isEmpty()) {
			return CompletableFuture.completedFuture(List.of());
		}
		Optional<Duration> tooLong = requests.stream().map(RenewRequest::ttl).filter(this::isTooLong).findFirst();
		return tooLong.isPresent() ? CompletableFuture.failedFuture(tooLong(tooLong.get()))
				: this.renewal.renew(requests, nodeTimeout(timeout));
	}

	private boolean isTooLong(Duration ttl) {
		return !this.settings.durable() && ttl.compareTo(this.settings.maxTtl()) > 0;
	}

	private LockUnavailableException tooLong(Duration ttl) {
		return new LockUnavailableException("a lease of " + RedisErrors.format(ttl)
				+ " is longer than distributed-lock.redlock.max-ttl, " + RedisErrors.format(this.settings.maxTtl())
				+ ", after which nodes that lost their data in a restart vote again: "
				+ "increase that property, shorten the lease, or renew it");
	}

	private Duration limit(Duration timeout) {
		return (timeout.compareTo(this.settings.commandTimeout()) < 0) ? timeout : this.settings.commandTimeout();
	}

	private Duration nodeTimeout(Duration timeout) {
		return this.settings.nodeTimeout(limit(timeout));
	}

	@Override
	public Optional<StoreHealth> health(Duration timeout) {
		Duration limit = limit(timeout);
		// each node ends in time; a busy machine may report that late
		Replies<Server> replies = Stages.join(this.quorum.ask((node) -> node.check(limit), (so) -> false),
				limit.plusSeconds(1));
		List<Server> servers = this.quorum.nodes().stream().map((node) -> {
			Server server = replies.received().get(node);
			LockUnavailableException failure = replies.failures().get(node);
			return (server != null) ? server
					: Server.unusable(node.toString(), (failure != null) ? node.problem(failure) : "no reply");
		}).toList();
		return Optional.of(new StoreHealth(servers, this.quorum.majority(), false));
	}

	/**
	 * Returns the inspector, which reports the locks that a majority of the nodes has.
	 */
	@Override
	public Optional<LockStoreInspector> inspector() {
		return Optional.of(new RedlockInspector(this.quorum, this.settings));
	}

	/**
	 * Returns empty: there is no queue.
	 */
	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return Optional.empty();
	}

	@Override
	public void close() {
		this.first.close();
		// slower nodes may still release locks, all of them at the same time
		long end = System.nanoTime() + this.settings.nodeTimeout().toNanos();
		this.quorum.nodes().forEach(RedlockNodeClient::shutdown);
		this.quorum.nodes().forEach((node) -> node.close(end));
	}

	/**
	 * Builds a {@link RedlockLockStore}. Not thread-safe.
	 */
	public static final class Builder {

		private final List<RedisConnectionFactory> nodes;

		private String keyPrefix = StoreOptions.DEFAULT_KEY_PREFIX;

		private Duration commandTimeout = DEFAULT_COMMAND_TIMEOUT;

		private Duration connectTimeout = StoreOptions.DEFAULT_CONNECT_TIMEOUT;

		private Duration maxTtl = DEFAULT_MAX_TTL;

		private boolean durable;

		private Builder(List<? extends RedisConnectionFactory> nodes) {
			this.nodes = List.copyOf(nodes);
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
		 * Sets the longest time for a whole request, a second by default. A node gets a
		 * fifth of it. A request for a lock never takes longer than a third of its ttl.
		 * @param commandTimeout the timeout, at least five milliseconds
		 * @return this builder
		 */
		public Builder commandTimeout(Duration commandTimeout) {
			this.commandTimeout = commandTimeout;
			return this;
		}

		/**
		 * Sets the longest time that the first lock waits for connections to a majority
		 * of the nodes, five seconds by default.
		 * @param connectTimeout the timeout, at least a millisecond
		 * @return this builder
		 */
		public Builder connectTimeout(Duration connectTimeout) {
			this.connectTimeout = connectTimeout;
			return this;
		}

		/**
		 * Sets the longest lease in use, 30 seconds by default: after a restart a node
		 * has no vote for that time, since it may have lost its locks. Longer leases are
		 * refused.
		 * @param maxTtl the longest lease, at least a millisecond; the same for all
		 * clients of the nodes
		 * @return this builder
		 */
		public Builder maxTtl(Duration maxTtl) {
			this.maxTtl = maxTtl;
			return this;
		}

		/**
		 * Sets whether no node loses anything it has acknowledged in a restart
		 * ({@code appendfsync always}). Nodes then vote at once after a restart, and
		 * leases may have any length. False by default.
		 * @param durable whether nodes lose nothing
		 * @return this builder
		 */
		public Builder durable(boolean durable) {
			this.durable = durable;
			return this;
		}

		/**
		 * Creates the store. Does not connect.
		 * @return the store, to be closed by the caller
		 * @throws IllegalArgumentException if an option is invalid, if the nodes are too
		 * few or of an even number, or if two of them are the same server
		 */
		public RedlockLockStore build() {
			return create(this.nodes, new RedlockSettings(this.keyPrefix, this.commandTimeout, this.connectTimeout,
					this.maxTtl, this.durable));
		}

	}

}
