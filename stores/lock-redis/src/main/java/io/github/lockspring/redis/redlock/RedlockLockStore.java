package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.redis.internal.client.FirstConnections;
import io.github.lockspring.redis.internal.client.RedisConnectionsFactory;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.redis.redlock.RedlockNodeClient.NodeResult;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult.NotOwner;
import io.github.lockspring.store.LockStore.ReleaseResult.Released;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreHealth.Server;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 * Thread-safe. Does not connect before {@link #connect} or the first request. A request
 * takes no longer than its timeout and the command timeout; the timeout should be at most
 * a third of the requested ttl.
 *
 * @since 0.1
 * @see <a href=
 * "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Distributed
 * Locks with Redis</a>
 */
public final class RedlockLockStore implements LockStore {

	/*
	 * The state of one acquisition is in its QuorumAcquisition. Here are only the number
	 * of the last attempt and `pending`: acquisitions that succeeded before all votes had
	 * arrived. The release of the lock can thus declare late votes unwanted. They leave
	 * the map with the last vote, which is never later than the timeout of a node, or
	 * with the release.
	 */

	private static final Logger logger = LoggerFactory.getLogger(RedlockLockStore.class);

	/** Most replies take a millisecond; callers should learn of an outage soon. */
	private static final Duration DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(1);

	/** The ttl of locks by default. */
	private static final Duration DEFAULT_MAX_TTL = Duration.ofSeconds(30);

	/** Allowance for times that are measured in milliseconds. */
	private static final long ROUNDING_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

	private static final int MAX_TRIES = 4;

	/** Acquire, confirm, and possibly withdraw. */
	private static final int REQUESTS_OF_AN_ATTEMPT = 3;

	private final Quorum quorum;

	private final RedlockSettings settings;

	private final RedlockRequests requests;

	private final LongSupplier nanoTime;

	private final RedlockRenewal renewal;

	private final AtomicLong attempts = new AtomicLong();

	private final Map<OwnerToken, QuorumAcquisition> pending = new ConcurrentHashMap<>();

	/** To a majority. */
	private final FirstConnections first;

	RedlockLockStore(List<RedlockNodeClient> nodes, RedlockSettings settings, LongSupplier nanoTime) {
		this.quorum = new Quorum(nodes);
		this.settings = settings;
		this.requests = new RedlockRequests(settings);
		this.renewal = new RedlockRenewal(this.quorum, this.requests);
		this.nanoTime = nanoTime;
		List<Runnable> first = nodes.stream()
			.map((node) -> (Runnable) () -> node.connect(this.requests.first(), settings.commandTimeout()))
			.toList();
		this.first = new FirstConnections(first, this.quorum.majority(), settings.connectTimeout());
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
		Map<String, RedisConnectionFactory> named = new LinkedHashMap<>();
		for (RedisConnectionFactory node : nodes) {
			String name = RedisConnectionsFactory.endpoint(node, null).name().orElse("#" + (named.size() + 1));
			if (named.put(name, node) != null) {
				throw new IllegalArgumentException(
						"Each Redlock node must be a server of its own, but there are two called " + name);
			}
		}
		Duration timeout = settings.commandTimeout();
		List<RedlockNodeClient> clients = new ArrayList<>();
		named.forEach((name,
				node) -> clients.add(new RedlockNodeClient(name,
						RedisConnectionsFactory.create(node, timeout, settings.connectTimeout()),
						RedisConnectionsFactory.endpoint(node, null), timeout)));
		return new RedlockLockStore(clients, settings, System::nanoTime);
	}

	@Override
	public void connect() {
		this.first.open();
	}

	/**
	 * Waits for a majority of the nodes. Connections to the others are opened meanwhile
	 * and afterwards.
	 */
	@Override
	public void awaitConnection() {
		this.first.await();
	}

	@Override
	public StoreTraits traits() {
		return StoreTraits.exact();
	}

	@Override
	public AcquireResult acquire(AcquireRequest request, Duration timeout) {
		if (isTooLong(request.ttl())) {
			throw tooLong(request.ttl());
		}
		// a repeated request has not used what an earlier attempt acquired
		endPending(request.token());
		try {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
			return acquire(request, limit(timeout).toNanos());
		}
		catch (InterruptedException ex) {
			throw RedisErrors.interrupted(ex);
		}
	}

	/*
	 * Callers that request the same lock at the same moment may split the votes; all of
	 * them then withdraw theirs. The first one that tries again acquires the lock: a
	 * request that does not wait must not fail only because of that.
	 */
	private AcquireResult acquire(AcquireRequest request, long limit) throws InterruptedException {
		long start = this.nanoTime.getAsLong();
		long sent = start;
		for (int tries = 1;; tries++) {
			Duration left = Duration.ofNanos(limit - (sent - start));
			Duration nodeTimeout = nodeTimeout(left.dividedBy(REQUESTS_OF_AN_ATTEMPT));
			long attempt = this.attempts.incrementAndGet();
			QuorumAcquisition acquisition = new QuorumAcquisition(this.quorum, this.requests, request, attempt,
					nodeTimeout, left.minus(nodeTimeout.multipliedBy(2)), this.pending);
			AcquireResult result = complete(acquisition, request, attempt, sent);
			if (result != null) {
				return result;
			}
			long now = this.nanoTime.getAsLong();
			long window = Math.max(MIN_PAUSE_NANOS, 2 * (now - sent)) << tries;
			if (tries == MAX_TRIES || !acquisition.isComplete() || now - start + window > limit / 2) {
				return acquisition.busy();
			}
			TimeUnit.NANOSECONDS.sleep(ThreadLocalRandom.current().nextLong(window));
			sent = this.nanoTime.getAsLong();
		}
	}

	/**
	 * Acquires the lock, or withdraws all votes.
	 * @return null if others have votes too, but possibly not the lock
	 */
	private @Nullable AcquireResult complete(QuorumAcquisition acquisition, AcquireRequest request, long attempt,
			long sent) throws InterruptedException {
		try {
			AcquireTally.Outcome outcome = acquisition.acquire();
			if (outcome == AcquireTally.Outcome.ACQUIRED) {
				long fencingToken = confirm(acquisition, request, sent);
				this.renewal.begin(request.token(), attempt, fencingToken, request.ttl());
				return new Acquired(fencingToken);
			}
			acquisition.withdraw();
			return switch (outcome) {
				case NO_QUORUM -> throw acquisition.noQuorum();
				case BUSY -> acquisition.busy();
				default -> null;
			};
		}
		catch (InterruptedException ex) {
			acquisition.withdrawAsync();
			throw ex;
		}
	}

	private long confirm(QuorumAcquisition acquisition, AcquireRequest request, long sent) throws InterruptedException {
		try {
			long fencingToken = acquisition.confirm();
			Duration elapsed = Duration.ofNanos(this.nanoTime.getAsLong() - sent);
			Duration left = request.ttl().minus(elapsed).minus(this.settings.drift(request.ttl()));
			if (left.toNanos() <= ROUNDING_NANOS) {
				throw new LockUnavailableException("the nodes took " + RedisErrors.format(elapsed)
						+ " to vote and to confirm it, and the lease of " + RedisErrors.format(request.ttl())
						+ " was over");
			}
			return fencingToken;
		}
		catch (LockUnavailableException ex) {
			acquisition.withdraw();
			throw ex;
		}
	}

	private void endPending(OwnerToken token) {
		QuorumAcquisition acquisition = this.pending.remove(token);
		if (acquisition != null) {
			acquisition.end();
		}
	}

	@Override
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		long fencingToken = this.renewal.end(request.token());
		endPending(request.token());
		Duration limit = limit(timeout);
		QuorumRequest<ReleaseResult> release = new QuorumRequest<>(this.quorum.nodes(),
				this.requests.release(request, fencingToken), nodeTimeout(limit), limit,
				(late) -> logger.debug("Release of lock '{}' in the background: {}", request.key(), late));
		List<Long> fencingTokens = new ArrayList<>();
		try {
			release.readUntil(
					() -> this.quorum.isReached(release.accepted()) || this.quorum.isBlocked(release.rejected()),
					(result) -> count(release, result, fencingTokens));
		}
		catch (InterruptedException ex) {
			throw RedisErrors.interrupted(ex);
		}
		finally {
			// the other nodes release it too
			release.leave();
		}
		if (this.quorum.isReached(release.accepted())) {
			return new Released();
		}
		if (this.quorum.isBlocked(release.rejected())) {
			return new NotOwner(Collections.max(fencingTokens));
		}
		throw release.unavailable("%d of %d nodes released the lock, %d needed".formatted(release.accepted(),
				this.quorum.size(), this.quorum.majority()));
	}

	private static void count(QuorumRequest<ReleaseResult> release, NodeResult<ReleaseResult> result,
			List<Long> fencingTokens) {
		if (result instanceof NodeResult.Failure<ReleaseResult> failure) {
			release.fail(failure);
		}
		else if (((NodeResult.Success<ReleaseResult>) result).result() instanceof NotOwner notOwner) {
			release.reject(result.node(), "does not have the lock");
			fencingTokens.add(notOwner.fencingToken());
		}
		else {
			release.accept(result.node());
		}
	}

	@Override
	public List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		if (requests.isEmpty()) {
			return List.of();
		}
		List<RenewRequest> possible = requests.stream().filter((request) -> !isTooLong(request.ttl())).toList();
		if (possible.isEmpty()) {
			throw tooLong(requests.get(0).ttl());
		}
		Iterator<RenewResult> results = renewPossible(possible, timeout).iterator();
		return requests.stream()
			.map((request) -> isTooLong(request.ttl()) ? RenewResult.UNKNOWN : results.next())
			.toList();
	}

	private List<RenewResult> renewPossible(List<RenewRequest> requests, Duration timeout) {
		Duration limit = limit(timeout);
		try {
			return this.renewal.renew(requests, nodeTimeout(limit), limit);
		}
		catch (InterruptedException ex) {
			throw RedisErrors.interrupted(ex);
		}
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
		return shorter(timeout, this.settings.commandTimeout());
	}

	private Duration nodeTimeout(Duration limit) {
		return shorter(limit, this.settings.nodeTimeout());
	}

	private static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

	@Override
	public Optional<StoreHealth> health(Duration timeout) {
		Duration limit = limit(timeout);
		Map<RedlockNodeClient, Server> servers = new HashMap<>();
		QuorumRequest<Server> request = new QuorumRequest<>(this.quorum.nodes(), RedlockNodeClient::check, limit, limit,
				(late) -> {
				});
		try {
			request.readUntil(() -> false, (result) -> servers.put(result.node(), server(result)));
		}
		catch (InterruptedException ex) {
			throw RedisErrors.interrupted(ex);
		}
		finally {
			request.close();
		}
		List<Server> all = this.quorum.nodes()
			.stream()
			.map((node) -> servers.getOrDefault(node,
					Server.unusable(node.toString(), "Redis did not reply within " + RedisErrors.format(limit))))
			.toList();
		return Optional.of(new StoreHealth(all, this.quorum.majority(), false));
	}

	/**
	 * Returns what says which locks a majority of the nodes has.
	 */
	@Override
	public Optional<LockStoreInspector> inspector() {
		return Optional.of(new RedlockInspector(this.quorum, this.settings));
	}

	private static Server server(NodeResult<Server> result) {
		return (result instanceof NodeResult.Success<Server> success) ? success.result()
				: Server.unusable(result.node().toString(), ((NodeResult.Failure<Server>) result).problem());
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
		this.quorum.nodes().forEach((node) -> node.close(Duration.ofNanos(end - System.nanoTime())));
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
