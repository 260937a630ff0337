package io.github.lockspring.jdbc;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the first connection of a store in the background, and lets callers wait for it.
 * Thread-safe.
 */
/*
 * For maintainers: in a new process, connecting includes loading the driver's classes and
 * perhaps TLS, which on a busy machine takes longer than a request may. All callers wait
 * for the same attempt. `impatient` is set by a caller that has waited in vain: those
 * after it do not wait until there has been a connection, or each call would be that slow
 * while the database is down.
 */
final class FirstConnection {

	private static final Logger logger = LoggerFactory.getLogger(FirstConnection.class);

	private static final long PAUSE_MILLIS = 50;

	private final Runnable request;

	private final Duration timeout;

	private final AtomicReference<@Nullable CompletableFuture<Boolean>> attempt = new AtomicReference<>();

	private final AtomicBoolean warned = new AtomicBoolean();

	private volatile boolean impatient;

	/**
	 * Creates an object that has not connected.
	 * @param request sends a request; throws {@link LockUnavailableException} if there is
	 * no connection
	 * @param timeout how long to wait for a connection
	 */
	FirstConnection(Runnable request, Duration timeout) {
		this.request = request;
		this.timeout = timeout;
	}

	/**
	 * Begins to connect, unless that is done or under way.
	 * @return completed with true when there is a connection, though a table may be
	 * missing; with false when the timeout is over, or the login is refused
	 */
	CompletableFuture<Boolean> open() {
		CompletableFuture<Boolean> present = this.attempt.get();
		if (present != null && present.getNow(true)) {
			return present;
		}
		CompletableFuture<Boolean> mine = new CompletableFuture<>();
		if (this.attempt.compareAndSet(present, mine)) {
			start(mine);
			return mine;
		}
		return open();
	}

	private void start(CompletableFuture<Boolean> outcome) {
		try {
			new DaemonThreadFactory("lock-jdbc-connect").newThread(() -> outcome.complete(connect())).start();
		}
		catch (Error ex) {
			// no thread at present
			logger.debug("Not connected", ex);
			outcome.complete(false);
		}
	}

	private boolean connect() {
		long end = System.nanoTime() + this.timeout.toNanos();
		while (true) {
			try {
				this.request.run();
				return true;
			}
			catch (RuntimeException | Error ex) {
				logger.debug("Not connected", ex);
				if (ex instanceof LockUnavailableException unavailable && unavailable.isPermanent()) {
					if (this.warned.compareAndSet(false, true)) {
						logger.warn("{}. Requests for locks, or at least waits for them, fail until that is corrected",
								ex.getMessage());
					}
					// otherwise the database has answered: there is a connection
					return !JdbcErrors.isLoginRefusal(unavailable);
				}
			}
			if (end - System.nanoTime() <= 0) {
				return false;
			}
			try {
				TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
			}
			catch (InterruptedException ex) {
				return false;
			}
		}
	}

	/**
	 * Waits until there is a connection, or the timeout is over.
	 */
	void await() {
		CompletableFuture<Boolean> outcome = open();
		if (this.impatient && !outcome.isDone()) {
			return;
		}
		try {
			this.impatient = !outcome.get(this.timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			this.impatient = true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
