package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the first connection of a store in the background, and executes a script on it:
 * in a new process both load classes, which on a busy machine takes longer than a command
 * may. Later connections are opened when they are needed, and nobody waits for them.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class FirstConnection {

	private static final Logger logger = LoggerFactory.getLogger(FirstConnection.class);

	private final Supplier<CompletionStage<?>> script;

	private final Duration timeout;

	private final AtomicBoolean begun = new AtomicBoolean();

	private final CompletableFuture<@Nullable Void> done = new CompletableFuture<>();

	private volatile boolean closed;

	/**
	 * Creates an object that has not connected.
	 * @param script executes the script
	 * @param timeout how long to wait for the reply
	 */
	public FirstConnection(Supplier<CompletionStage<?>> script, Duration timeout) {
		this.script = script;
		this.timeout = timeout;
	}

	/**
	 * Begins to connect, unless that has been done.
	 * @return completes when the server has replied, when connecting has failed, or when
	 * the timeout is over
	 */
	public CompletionStage<@Nullable Void> connected() {
		if (this.begun.compareAndSet(false, true)) {
			this.done.completeOnTimeout(null, this.timeout.toNanos(), TimeUnit.NANOSECONDS);
			new DaemonThreadFactory("lock-redis-first").newThread(this::connect).start();
		}
		return this.done;
	}

	private void connect() {
		long end = System.nanoTime() + this.timeout.toNanos();
		Duration left = this.timeout;
		while (left.toNanos() > 0 && !this.closed && !isOver(left, end)) {
			left = Duration.ofNanos(end - System.nanoTime());
		}
		this.done.complete(null);
	}

	private boolean isOver(Duration left, long end) {
		try {
			Stages.join(this.script.get(), left);
			return true;
		}
		catch (LockUnavailableException ex) {
			logger.debug("Not connected", ex);
			boolean refused = ex.getCause() != null && !RedisErrors.isTimeout(ex);
			boolean over = refused || end - System.nanoTime() <= 0;
			boolean known = ex.isPermanent() || ex.getRemedy() != null || refused && !RedisErrors.isErrorReply(ex);
			if (over && known && !this.closed) {
				logger.warn("Not connected: {}. Requests for locks fail, or wait, until that is corrected",
						ex.getMessage());
			}
			return over;
		}
	}

	/**
	 * Connects no more, and says nothing about an attempt that is under way.
	 */
	public void close() {
		this.closed = true;
	}

}
