package io.github.lockspring.internal;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the first connection of a store in the background, once, and sends a request on
 * it: in a new process both load classes, which on a busy machine takes longer than a
 * request may. Later connections are opened when they are needed, and nobody waits for
 * them. Thread-safe.
 *
 * @since 0.1
 */
public final class FirstConnection {

	private static final Logger logger = LoggerFactory.getLogger(FirstConnection.class);

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final String thread;

	private final Supplier<? extends CompletionStage<?>> request;

	private final Duration timeout;

	private final Predicate<LockUnavailableException> again;

	private final AtomicBoolean begun = new AtomicBoolean();

	private final CompletableFuture<@Nullable Void> done = new CompletableFuture<>();

	private volatile boolean closed;

	/**
	 * Creates an object that has not connected.
	 * @param thread the name of the thread that connects
	 * @param request sends a request that changes nothing; may block
	 * @param timeout how long to wait for the reply
	 * @param again whether the request is repeated after a failure
	 */
	public FirstConnection(String thread, Supplier<? extends CompletionStage<?>> request, Duration timeout,
			Predicate<LockUnavailableException> again) {
		this.thread = thread;
		this.request = request;
		this.timeout = timeout;
		this.again = again;
	}

	/**
	 * Begins to connect, unless that has been done.
	 * @return completes when there was a reply, when connecting has failed for good, or
	 * when the timeout is over
	 */
	public CompletionStage<@Nullable Void> connected() {
		if (this.begun.compareAndSet(false, true)) {
			this.done.completeOnTimeout(null, this.timeout.toNanos(), TimeUnit.NANOSECONDS);
			try {
				new DaemonThreadFactory(this.thread).newThread(this::connect).start();
			}
			catch (Error ex) {
				logger.debug("No thread is available now", ex);
				this.done.complete(null);
			}
		}
		return this.done.copy();
	}

	private void connect() {
		long end = System.nanoTime() + this.timeout.toNanos();
		LockUnavailableException problem = attempt(this.timeout);
		while (problem != null && !this.closed && this.again.test(problem) && end - System.nanoTime() > PAUSE_NANOS) {
			LockSupport.parkNanos(PAUSE_NANOS);
			problem = attempt(Duration.ofNanos(end - System.nanoTime()));
		}
		if (problem != null && !this.closed && isKnown(problem)) {
			logger.warn("Not connected: {}. Requests for locks may fail until this is corrected", problem.getMessage());
		}
		this.done.complete(null);
	}

	private @Nullable LockUnavailableException attempt(Duration left) {
		try {
			Stages.join(this.request.get(), left);
			return null;
		}
		catch (RuntimeException | Error ex) {
			logger.debug("Not connected", ex);
			return Stages.unavailable(ex);
		}
	}

	/** A mere lack of replies is no reason for a warning. */
	private boolean isKnown(LockUnavailableException problem) {
		return problem.isPermanent() || problem.getRemedy() != null || !this.again.test(problem);
	}

	/**
	 * Begins no further attempt, and logs nothing about one that is under way.
	 */
	public void close() {
		this.closed = true;
	}

}
