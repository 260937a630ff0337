package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.internal.engine.support.LockRecorder.Command;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Sends requests to a store, on the present thread unless that would block it. Each is
 * answered at most once, on any thread: with a result, or with the reason why there is
 * none, a {@link LockUnavailableException} whatever the store did. Remembers whether the
 * servers answer. Thread-safe.
 * <p>
 * Nothing here ends a request that the store does not answer: the watchdog does, with
 * {@link #noteUnanswered}.
 *
 * @since 0.1
 */
public final class StoreClient {

	private static final Logger logger = LoggerFactory.getLogger(StoreClient.class);

	private static final String ANY_SHARD = "";

	/** Longer than any timeout of a store for connecting. */
	private static final Duration LONGEST_CONNECTING = Duration.ofSeconds(60);

	/**
	 * Receives the outcome of a request. Never throws.
	 *
	 * @param <T> the type of the result
	 */
	public interface Answer<T> extends BiConsumer<@Nullable T, @Nullable LockUnavailableException> {

	}

	private final LockStore store;

	private final Duration commandTimeout;

	private final LockEvents events;

	private final Time time;

	private final EngineThreads.Executors executors;

	private final ShardHealth health = new ShardHealth();

	/**
	 * Creates a client.
	 * @param store the store
	 * @param commandTimeout longest wait for a result; for a short ttl a third of it
	 * @param events receives the times of requests, and runs log statements
	 * @param time the clock
	 * @param executors send to a store that blocks, where the present thread must not
	 */
	public StoreClient(LockStore store, Duration commandTimeout, LockEvents events, Time time,
			EngineThreads.Executors executors) {
		this.store = store;
		this.commandTimeout = commandTimeout;
		this.events = events;
		this.time = time;
		this.executors = executors;
	}

	/**
	 * Returns the capabilities and limits of the store.
	 * @return the traits
	 */
	public StoreTraits traits() {
		return this.store.traits();
	}

	/**
	 * Returns the length of the lease to request from a renewal.
	 * @param ttl the ttl that is left
	 * @return the ttl, or what the store can give at present
	 */
	public Duration lease(Duration ttl) {
		return this.store.lease(ttl);
	}

	// connecting

	/**
	 * Connects a store in the background.
	 * @param store the store
	 * @return completes, and never fails, when the first request can be sent
	 */
	public static CompletionStage<?> connect(LockStore store) {
		try {
			return store.connected();
		}
		catch (RuntimeException | Error ex) {
			// the first request will report it
			logger.debug("The store failed unexpectedly", ex);
			return CompletableFuture.completedFuture(null);
		}
	}

	/**
	 * Runs something when the first request can be sent.
	 * @param then must not block
	 */
	public void whenConnected(Runnable then) {
		connect(this.store).whenComplete((ignored, failure) -> then.run());
	}

	/**
	 * Waits for the first connection, which may take longer than a request. Returns at
	 * once when there has been one, and when the thread is interrupted.
	 * @return how long that took, in nanoseconds
	 */
	public long awaitConnection() {
		CompletableFuture<?> connected = connect(this.store).toCompletableFuture();
		if (connected.isDone()) {
			return 0;
		}
		long begin = this.time.nanoTime();
		try {
			Stages.join(connected, LONGEST_CONNECTING);
		}
		catch (LockUnavailableException ex) {
			// the request that follows will report it
			logger.debug("The first connection failed", ex);
		}
		return this.time.nanoTime() - begin;
	}

	// requests

	/**
	 * Acquires a lock.
	 * @param request the request
	 * @param mayBlock whether the driver may block the present thread
	 * @param answer receives the result; the request may have been carried out, or may
	 * yet be, if there is none
	 */
	public void acquire(AcquireRequest request, boolean mayBlock, Answer<AcquireResult> answer) {
		Duration timeout = timeout(request.ttl());
		send(Command.ACQUIRE, request.key(), timeout, mayBlock, () -> this.store.acquire(request, timeout), answer);
	}

	/**
	 * Releases a lock.
	 * @param key the key
	 * @param request makes the request when it is sent
	 * @param mayBlock whether the driver may block the present thread
	 * @param answer receives the result
	 */
	public void release(String key, Supplier<ReleaseRequest> request, boolean mayBlock, Answer<ReleaseResult> answer) {
		send(Command.RELEASE, key, this.commandTimeout, mayBlock,
				() -> this.store.release(request.get(), this.commandTimeout), answer);
	}

	/**
	 * Renews several locks of one shard.
	 * @param requests the requests
	 * @param mayBlock whether the driver may block the present thread
	 * @param answer receives a result for each of them
	 */
	public void renew(List<RenewRequest> requests, boolean mayBlock, Answer<List<RenewResult>> answer) {
		Duration timeout = timeout(requests);
		send(Command.RENEW, requests.get(0).key(), timeout, mayBlock, () -> this.store.renew(requests, timeout),
				answer);
	}

	/** Another thread sends what the driver would block the present one for. */
	private <T> void send(Command command, String key, Duration timeout, boolean mayBlock,
			Supplier<CompletionStage<T>> request, Answer<T> answer) {
		if (!mayBlock && traits().blocking()) {
			Executor executor = (command == Command.RENEW) ? this.executors.io() : this.executors.background();
			try {
				executor.execute(() -> send(command, key, timeout, true, request, answer));
			}
			catch (RuntimeException | Error ex) {
				// an error too: the machine may be out of threads
				answer.accept(null, noThread(ex));
			}
			return;
		}
		Sent<T> sent = new Sent<>(command, key, timeout, answer);
		try {
			request.get().whenComplete(sent);
		}
		catch (RuntimeException | Error ex) {
			sent.accept(null, ex);
		}
	}

	/**
	 * Creates the exception for a request that could not be sent for want of a thread.
	 * @param ex why there is none
	 * @return the exception
	 */
	public static LockUnavailableException noThread(Throwable ex) {
		return new LockUnavailableException("A thread of the lock engine could not be started: " + ex, ex);
	}

	/**
	 * Returns the longest wait for the result of a renewal.
	 * @param requests the requests
	 * @return the shortest of their timeouts
	 */
	public Duration timeout(List<RenewRequest> requests) {
		Duration timeout = this.commandTimeout;
		for (RenewRequest request : requests) {
			timeout = shorter(timeout, timeout(request.ttl()));
		}
		return timeout;
	}

	/**
	 * Renews one lock and waits for the result, whether the thread is interrupted or not.
	 * @param request the request
	 * @return whether the token owns the lock, never {@link RenewResult#UNKNOWN}
	 * @throws LockUnavailableException without a result
	 */
	public RenewResult renew(RenewRequest request) {
		CompletableFuture<RenewResult> result = new CompletableFuture<>();
		renew(List.of(request), true, (results, failure) -> {
			if (results != null && results.size() == 1 && results.get(0) != RenewResult.UNKNOWN) {
				result.complete(results.get(0));
			}
			else {
				result.completeExceptionally(
						(failure != null) ? failure : new LockUnavailableException("The store has not answered"));
			}
		});
		return join(result, request.key(), timeout(request.ttl()));
	}

	/**
	 * Waits for a result, whether the thread is interrupted or not.
	 * @param <T> the type of the result
	 * @param result the result
	 * @param key the key of the request
	 * @param timeout longest wait
	 * @return the result
	 * @throws LockUnavailableException without one
	 */
	public <T> T join(CompletableFuture<T> result, String key, Duration timeout) {
		long end = this.time.nanoTime() + timeout.toNanos();
		boolean interrupted = Thread.interrupted();
		try {
			while (true) {
				try {
					return Stages.join(result, Duration.ofNanos(Math.max(0, end - this.time.nanoTime())));
				}
				catch (LockUnavailableException ex) {
					if (!Thread.interrupted()) {
						throw result.isDone() ? ex : noteUnanswered(key);
					}
					interrupted = true;
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * A request on its way.
	 */
	private final class Sent<T> implements BiConsumer<@Nullable T, @Nullable Throwable> {

		private final Command command;

		private final String key;

		private final Duration timeout;

		private final Answer<T> answer;

		private final long at = StoreClient.this.time.nanoTime();

		private Sent(Command command, String key, Duration timeout, Answer<T> answer) {
			this.command = command;
			this.key = key;
			this.timeout = timeout;
			this.answer = answer;
		}

		/** A stage would swallow what this throws. */
		@Override
		public void accept(@Nullable T result, @Nullable Throwable failure) {
			try {
				record(failure == null);
				if (failure == null && result != null) {
					noticeAnswer(this.key);
					this.answer.accept(result, null);
				}
				else {
					noticeSilence(this.key, this.at, this.timeout);
					this.answer.accept(null, Stages.unavailable(
							(failure != null) ? failure : new IllegalStateException("null instead of a result")));
				}
			}
			catch (RuntimeException | Error ex) {
				StoreClient.this.events
					.execute(() -> logger.error("An answer about lock '{}' could not be used", this.key, ex));
			}
		}

		private void record(boolean answered) {
			if (StoreClient.this.events.isRecorded()) {
				long took = StoreClient.this.time.nanoTime() - this.at;
				StoreClient.this.events.record((to) -> to.commanded(this.command, shard(this.key), answered, took));
			}
		}

	}

	// health

	/**
	 * Records that a request had no result, which is to be logged.
	 * @param key the key of the request
	 * @return a warning for the first one of an outage of its server
	 */
	public Level noteFailure(String key) {
		return this.health.failed(shard(key), false, true, this.time.nanoTime()) ? Level.WARN : Level.DEBUG;
	}

	/**
	 * Records that a request has not been answered in time.
	 * @param key the key of the request
	 * @return the exception
	 */
	public LockUnavailableException noteUnanswered(String key) {
		String shard = shard(key);
		this.health.failed(shard, true, false, this.time.nanoTime());
		return new LockUnavailableException(
				"The store" + (shard.isEmpty() ? "" : " at " + shard) + " has not answered in time");
	}

	/**
	 * Returns whether a server has not answered since a request to it was given up.
	 * @param shard the name of the server
	 * @return whether it is better not to wait for it
	 */
	public boolean isSilent(String shard) {
		return this.health.isSilent(shard);
	}

	/**
	 * Returns whether the server of a key is silent.
	 * @param key the key
	 * @return whether it is better not to wait for it
	 */
	public boolean isSilentFor(String key) {
		return !this.health.isGood() && this.health.isSilent(shard(key));
	}

	/** A driver that waits for the answer itself fails when the time is over. */
	private void noticeSilence(String key, long sent, Duration timeout) {
		long now = this.time.nanoTime();
		if (now - sent >= timeout.toNanos() / 2) {
			this.health.failed(shard(key), true, false, now);
		}
	}

	private void noticeAnswer(String key) {
		if (this.health.isGood()) {
			return;
		}
		String shard = shard(key);
		long now = this.time.nanoTime();
		ShardHealth.Outage ended = this.health.answered(shard, now);
		if (ended != null && ended.reported()) {
			this.events
				.execute(() -> logger.info("The store{} answers again: requests of locks had no result for up to {}s",
						shard.isEmpty() ? "" : " at " + shard, (now - ended.since()) / 1_000_000_000));
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
			this.events.execute(() -> logger.error("The store failed unexpectedly", ex));
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
	 * @param ttl length of the lease
	 * @return the command timeout, or a third of a short ttl
	 */
	public Duration timeout(Duration ttl) {
		return shorter(this.commandTimeout, ttl.dividedBy(3));
	}

	private static Duration shorter(Duration a, Duration b) {
		return (b.compareTo(a) < 0) ? b : a;
	}

}
