package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.internal.engine.support.LockRecorder.Command;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.StoreTraits;
import io.github.lockspring.store.StoredLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Sends requests to a store: with a timeout, with or without regard for interrupts, and
 * with every failure turned into {@link LockUnavailableException}. Thread-safe.
 *
 * @since 0.1
 */
public final class StoreClient {

	private static final Logger logger = LoggerFactory.getLogger(StoreClient.class);

	private static final int MAX_TRIES = 3;

	private static final String ANY_SHARD = "";

	/** For what only a message needs. */
	private static final Duration LOOKUP_TIMEOUT = Duration.ofMillis(200);

	private final LockStore store;

	private final Duration commandTimeout;

	private final Executor reports;

	private final Recording recording;

	private final Time time;

	private final Outages outages = new Outages();

	/**
	 * Creates a client.
	 * @param store the store
	 * @param commandTimeout longest wait for a result; for a short ttl a third of it
	 * @param reports writes what the log has to say
	 * @param recording receives the times of requests
	 * @param time the clock
	 */
	public StoreClient(LockStore store, Duration commandTimeout, Executor reports, Recording recording, Time time) {
		this.store = store;
		this.commandTimeout = commandTimeout;
		this.reports = reports;
		this.recording = recording;
		this.time = time;
	}

	/**
	 * Returns what the store is like.
	 * @return the traits
	 */
	public StoreTraits traits() {
		return this.store.traits();
	}

	/**
	 * Begins to connect in the background.
	 */
	public void connect() {
		try {
			this.store.connect();
		}
		catch (RuntimeException | Error ex) {
			// the first request will report it
			logger.debug("The store failed unexpectedly", ex);
		}
	}

	/**
	 * Waits for the first connection, which may take longer than a request. Returns at
	 * once when there has been one.
	 */
	public void awaitConnection() {
		try {
			this.store.awaitConnection();
		}
		catch (RuntimeException ex) {
			// the request that follows will report it
			logger.debug("The store failed unexpectedly", ex);
		}
	}

	/**
	 * Acquires a lock. An interrupt ends the wait for the result.
	 * @param request the request
	 * @return the result
	 * @throws LockUnavailableException without a result; the request may have been
	 * carried out, or may yet be
	 */
	public AcquireResult acquire(AcquireRequest request) {
		try {
			AcquireResult result = measured(Command.ACQUIRE, request.key(),
					() -> notNull(this.store.acquire(request, timeout(request.ttl()))));
			answered(request.key());
			return result;
		}
		catch (LockUnavailableException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw unexpected(ex);
		}
	}

	/**
	 * Renews one lock, whether the thread is interrupted or not.
	 * @param request the request
	 * @return whether the token owns the lock, never {@link RenewResult#UNKNOWN}
	 * @throws LockUnavailableException without a result
	 */
	public RenewResult renew(RenewRequest request) {
		List<RenewRequest> requests = List.of(request);
		RenewResult result = uninterrupted(() -> measured(Command.RENEW, request.key(),
				() -> notNull(this.store.renew(requests, timeout(request.ttl())).get(0))));
		if (result == RenewResult.UNKNOWN) {
			throw new LockUnavailableException("the store did not answer");
		}
		return result;
	}

	/**
	 * Renews several locks.
	 * @param requests the requests
	 * @return a result for each of them, {@link RenewResult#UNKNOWN} without one
	 */
	public List<RenewResult> renewAll(List<RenewRequest> requests) {
		Duration timeout = this.commandTimeout;
		for (RenewRequest request : requests) {
			timeout = shorter(timeout, timeout(request.ttl()));
		}
		List<RenewResult> results = new ArrayList<>(Collections.nCopies(requests.size(), RenewResult.UNKNOWN));
		try {
			Duration longest = timeout;
			// all of them are for one shard, as far as was known when they were collected
			List<RenewResult> known = measured(Command.RENEW, requests.get(0).key(),
					() -> this.store.renew(requests, longest));
			for (int i = 0; i < results.size(); i++) {
				results.set(i, notNull(known.get(i)));
			}
			answered(requests.get(0).key());
		}
		catch (LockUnavailableException ex) {
			Level level = beginsOutage(requests.get(0).key()) ? Level.WARN : Level.DEBUG;
			this.reports.execute(() -> logger.atLevel(level)
				.log("{} lock(s), '{}' among them, could not be renewed now and will be tried again: {}",
						requests.size(), requests.get(0).key(), ex.getMessage()));
		}
		catch (RuntimeException | Error ex) {
			// an error too: whatever happens here, these leases are tried again
			Level level = beginsOutage(requests.get(0).key()) ? Level.ERROR : Level.DEBUG;
			this.reports.execute(() -> logger.atLevel(level)
				.setCause(ex)
				.log("The store failed unexpectedly; the renewal of {} lock(s) will be tried again", requests.size()));
		}
		return results;
	}

	/**
	 * Releases a lock, whether the thread is interrupted or not.
	 * @param request the request
	 * @param timeout longest wait for the result
	 * @return the result; {@code NotOwner} without a fencing token if the request had to
	 * be repeated, since the first one may have released the lock for another owner
	 * @throws LockUnavailableException without a result
	 */
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		AtomicInteger tries = new AtomicInteger();
		try {
			ReleaseResult result = uninterrupted(() -> {
				tries.incrementAndGet();
				return measured(Command.RELEASE, request.key(), () -> notNull(this.store.release(request, timeout)));
			});
			answered(request.key());
			return (result instanceof ReleaseResult.NotOwner notOwner)
					? ReleaseResult.NotOwner.of(notOwner.fencingToken(), tries.get()) : result;
		}
		catch (Error ex) {
			// a release must not hide the failure of the work, nor stop other releases
			throw unexpected(ex);
		}
	}

	/**
	 * Sends a release without waiting for its result.
	 * @param request the request
	 * @return the result, or empty if the store cannot do that now
	 */
	public Optional<CompletionStage<ReleaseResult>> releaseAsync(ReleaseRequest request) {
		try {
			long sent = this.time.nanoTime();
			return this.store.releaseAsync(request)
				.map((result) -> this.recording.isOn()
						? result.whenComplete(
								(answer, failure) -> record(Command.RELEASE, request.key(), failure == null, sent))
						: result);
		}
		catch (RuntimeException | Error ex) {
			// it may have been sent, and may be repeated
			logger.debug("The store failed unexpectedly", ex);
			return Optional.empty();
		}
	}

	/**
	 * Who holds a lock.
	 *
	 * @param info the instance
	 * @param age since when, or null if that is not known
	 */
	public record Owner(InstanceInfo info, @Nullable Duration age) {
	}

	/**
	 * Looks up who holds a lock, for a message. Waits only for a moment, and never fails.
	 * @param key the key
	 * @return the owner, or empty if it is not known
	 */
	public Optional<Owner> owner(String key) {
		if (Thread.currentThread().isInterrupted()) {
			return Optional.empty();
		}
		Duration timeout = shorter(this.commandTimeout, LOOKUP_TIMEOUT);
		try {
			LockStoreInspector inspector = this.store.inspector().orElse(null);
			StoredLock lock = (inspector != null) ? inspector.find(key, timeout).orElse(null) : null;
			String instance = (lock != null) ? lock.instance().orElse(null) : null;
			if (inspector == null || lock == null || instance == null) {
				return Optional.empty();
			}
			InstanceInfo info = inspector.instances(List.of(instance), timeout).get(instance);
			return Optional.ofNullable(info).map((known) -> new Owner(known, lock.age()));
		}
		catch (RuntimeException ex) {
			logger.debug("The owner of lock '{}' could not be looked up", key, ex);
			return Optional.empty();
		}
	}

	/**
	 * Lets the store remember who an instance is.
	 * @param instance the instance part of its owner tokens
	 * @param info describes it
	 * @param ttl for how long
	 * @throws LockUnavailableException if that fails
	 */
	public void register(String instance, InstanceInfo info, Duration ttl) {
		try {
			this.store.inspector()
				.ifPresent((inspector) -> inspector.register(instance, info, ttl, this.commandTimeout));
		}
		catch (LockUnavailableException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw unexpected(ex);
		}
	}

	/**
	 * A request had no result, and that is to be logged: as a warning if it is the first
	 * one of an outage of its server.
	 * @param key the key of the request
	 * @return false if the outage has been reported
	 */
	public boolean beginsOutage(String key) {
		return this.outages.failed(shard(key), this.time.nanoTime());
	}

	/**
	 * The store has answered a request.
	 * @param key the key of the request
	 */
	public void answered(String key) {
		if (this.outages.isEmpty()) {
			return;
		}
		String shard = shard(key);
		long now = this.time.nanoTime();
		Outages.Outage ended = this.outages.answered(shard, now);
		if (ended != null) {
			this.reports
				.execute(() -> logger.info("The store{} answers again: {} requests of locks had no result in {}s",
						shard.isEmpty() ? "" : " at " + shard, ended.failures(),
						(now - ended.since()) / 1_000_000_000));
		}
	}

	/**
	 * Names the server that answers for a key, also where the store fails to.
	 * @param key the key
	 * @return the name
	 */
	public String shard(String key) {
		try {
			return this.store.shard(key);
		}
		catch (RuntimeException | Error ex) {
			// a lease that is not renewed would be lost
			this.reports.execute(() -> logger.error("The store failed unexpectedly", ex));
			return ANY_SHARD;
		}
	}

	/**
	 * Returns the longest wait for a result.
	 * @return the command timeout
	 */
	public Duration commandTimeout() {
		return this.commandTimeout;
	}

	/**
	 * Returns the longest wait for a result about a lease.
	 * @param ttl length of the lease; zero if it is unknown
	 * @return the command timeout, or a third of a short ttl
	 */
	public Duration timeout(Duration ttl) {
		return ttl.isZero() ? this.commandTimeout : shorter(this.commandTimeout, Duration.ofNanos(ttl.toNanos() / 3));
	}

	private <T> T measured(Command command, String key, Supplier<T> request) {
		if (!this.recording.isOn()) {
			return request.get();
		}
		long sent = this.time.nanoTime();
		boolean answered = false;
		try {
			T result = request.get();
			answered = true;
			return result;
		}
		finally {
			record(command, key, answered, sent);
		}
	}

	private void record(Command command, String key, boolean answered, long sent) {
		long took = this.time.nanoTime() - sent;
		this.recording.add((to) -> to.commanded(command, this.store.shard(key), answered, took));
	}

	/** Refuses a result that is not one. */
	private static <T> T notNull(@Nullable T result) {
		if (result == null) {
			throw new IllegalStateException("null instead of a result");
		}
		return result;
	}

	private static Duration shorter(Duration a, Duration b) {
		return (b.compareTo(a) < 0) ? b : a;
	}

	/**
	 * Clears the interrupt flag, calls, and restores it. A driver that is interrupted
	 * during the call sends the request and then does not wait for the result: the call
	 * is repeated, which is safe for every request to a store.
	 */
	private static <T> T uninterrupted(Supplier<T> call) {
		boolean interrupted = Thread.interrupted();
		try {
			for (int tries = 1;; tries++) {
				try {
					return call.get();
				}
				catch (LockUnavailableException ex) {
					if (!Thread.interrupted() || tries == MAX_TRIES) {
						throw ex;
					}
					interrupted = true;
				}
				catch (RuntimeException ex) {
					throw unexpected(ex);
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private static LockUnavailableException unexpected(Throwable ex) {
		return new LockUnavailableException("The store failed unexpectedly: " + ex, ex);
	}

	/**
	 * Tells the first failure of an outage of a server from those that follow, so that an
	 * outage is one line of the log and not one for each lock. An outage ends with the
	 * first answer after a while without failures: a server that answers now and then has
	 * one. Thread-safe.
	 */
	private static final class Outages {

		private static final long QUIET_NANOS = 10_000_000_000L;

		/**
		 * An outage.
		 *
		 * @param since the time of the first failure
		 * @param failures their number
		 */
		record Outage(long since, AtomicInteger failures) {
		}

		private record Known(Outage outage, long last) {
		}

		private final Map<String, Known> known = new ConcurrentHashMap<>();

		/**
		 * Returns whether there is no outage. Costs next to nothing.
		 */
		boolean isEmpty() {
			return this.known.isEmpty();
		}

		/**
		 * A request had no result.
		 * @return whether it is the first one of an outage
		 */
		boolean failed(String shard, long now) {
			Known present = this.known.compute(shard, (name, before) -> new Known(
					(before != null) ? before.outage() : new Outage(now, new AtomicInteger()), now));
			return present.outage().failures().incrementAndGet() == 1;
		}

		/**
		 * A request had a result.
		 * @return the outage that has ended with it, or null
		 */
		@Nullable Outage answered(String shard, long now) {
			Known present = this.known.get(shard);
			boolean ended = present != null && now - present.last() >= QUIET_NANOS && this.known.remove(shard, present);
			return (present != null && ended) ? present.outage() : null;
		}

	}

}
