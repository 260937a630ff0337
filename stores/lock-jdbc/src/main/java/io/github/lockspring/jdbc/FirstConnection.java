package io.github.lockspring.jdbc;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the first connection of a store in the background, once. In a new process this
 * includes loading the driver's classes and perhaps TLS, which may take longer than a
 * request may on a busy machine. Thread-safe.
 */
final class FirstConnection {

	private static final Logger logger = LoggerFactory.getLogger(FirstConnection.class);

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final Runnable request;

	private final Duration timeout;

	private final AtomicBoolean begun = new AtomicBoolean();

	private final CompletableFuture<@Nullable Void> outcome = new CompletableFuture<>();

	/**
	 * Does not connect yet.
	 * @param request sends a request; throws {@link LockUnavailableException} if there is
	 * no connection
	 * @param timeout how long to try
	 */
	FirstConnection(Runnable request, Duration timeout) {
		this.request = request;
		this.timeout = timeout;
	}

	/**
	 * Begins to connect, unless that has already begun.
	 * @return completes when the database has replied, even with a permanent failure, or
	 * after the timeout
	 */
	CompletableFuture<@Nullable Void> open() {
		if (this.begun.compareAndSet(false, true)) {
			this.outcome.completeOnTimeout(null, this.timeout.toNanos(), TimeUnit.NANOSECONDS);
			try {
				new DaemonThreadFactory("lock-jdbc-connect").newThread(this::connect).start();
			}
			catch (Error ex) {
				// no thread available now
				logger.debug("Not connected", ex);
				this.outcome.complete(null);
			}
		}
		return this.outcome.copy();
	}

	private void connect() {
		while (!this.outcome.isDone()) {
			try {
				this.request.run();
				this.outcome.complete(null);
			}
			catch (RuntimeException | Error ex) {
				logger.debug("Not connected", ex);
				if (ex instanceof LockUnavailableException unavailable && unavailable.isPermanent()) {
					logger.warn("{}. Requests for locks fail, or cannot wait, until this is corrected",
							ex.getMessage());
					this.outcome.complete(null);
				}
				LockSupport.parkNanos(PAUSE_NANOS);
			}
		}
	}

}
