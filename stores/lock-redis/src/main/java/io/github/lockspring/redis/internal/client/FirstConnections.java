package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the first connections of a store in the background, and lets callers wait until
 * enough of its servers have replied. Thread-safe.
 *
 * @since 0.1
 */
public final class FirstConnections {

	/*
	 * In a new process, connecting includes loading classes and perhaps TLS, which on a
	 * busy machine takes longer than a command may. Each server has a thread of its own
	 * that sends it one command, as requests will, and repeats that while it has no
	 * reply: a driver continues to connect when it has given up a command.
	 *
	 * `attempt` is null (never tried), running, or has an outcome. All callers wait for
	 * the same attempt; after one without success, the next caller begins another.
	 *
	 * `impatient` is set by a caller that has waited in vain. Those after it do not wait,
	 * or each of them would, as long as a server does not reply.
	 */

	private static final Logger logger = LoggerFactory.getLogger(FirstConnections.class);

	private enum Outcome {

		CONNECTED, REFUSED, NO_REPLY

	}

	private final List<Runnable> commands;

	private final int required;

	private final Duration timeout;

	private final AtomicReference<@Nullable Attempt> attempt = new AtomicReference<>();

	private volatile boolean impatient;

	private volatile boolean connected;

	private volatile boolean closed;

	/** One warning: requests report later failures. */
	private final AtomicBoolean warned = new AtomicBoolean();

	/**
	 * Creates an object that has not connected.
	 * @param commands a command for each server; connects to it if necessary, and throws
	 * if that fails or there is no reply
	 * @param required how many servers must have replied
	 * @param timeout how long to wait for them
	 */
	public FirstConnections(List<Runnable> commands, int required, Duration timeout) {
		this.commands = commands;
		this.required = required;
		this.timeout = timeout;
	}

	/**
	 * Begins to connect in the background, unless that is done or under way.
	 */
	public void open() {
		begin();
	}

	private Attempt begin() {
		Attempt present = this.attempt.get();
		if (present != null && !present.isOver()) {
			return present;
		}
		Attempt mine = new Attempt();
		Attempt other = this.attempt.compareAndExchange(present, mine);
		if (other != present) {
			return (other != null) ? other : mine;
		}
		mine.start();
		return mine;
	}

	/**
	 * Connects and waits until enough servers have replied, or cannot reply, or the
	 * timeout is over.
	 */
	public void await() {
		if (this.connected) {
			return;
		}
		long end = System.nanoTime() + this.timeout.toNanos();
		Outcome outcome;
		do {
			Attempt present = begin();
			outcome = present.await(this.impatient ? 0 : end - System.nanoTime());
		}
		while (outcome == Outcome.NO_REPLY && !this.impatient && end - System.nanoTime() > 0
				&& !Thread.currentThread().isInterrupted());
		if (!Thread.currentThread().isInterrupted()) {
			this.impatient = outcome == Outcome.NO_REPLY;
		}
		if (outcome == Outcome.CONNECTED) {
			this.connected = true;
		}
	}

	/**
	 * Connects no more, and says nothing about attempts that are under way.
	 */
	public void close() {
		this.closed = true;
	}

	private void warn(@Nullable Throwable refusal) {
		if (refusal != null && !this.closed && this.warned.compareAndSet(false, true)) {
			logger.warn("Not connected: {}. Requests for locks fail, or wait, until that is corrected",
					refusal.getMessage());
		}
	}

	/**
	 * One attempt to get a reply of each server.
	 */
	private final class Attempt {

		private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();

		private final AtomicInteger connected = new AtomicInteger();

		private final AtomicInteger refused = new AtomicInteger();

		private volatile @Nullable Throwable refusal;

		private final AtomicInteger open = new AtomicInteger(FirstConnections.this.commands.size());

		private final long end = System.nanoTime() + FirstConnections.this.timeout.toNanos();

		void start() {
			for (Runnable command : FirstConnections.this.commands) {
				try {
					new DaemonThreadFactory("lock-redis-connect").newThread(() -> count(connect(command))).start();
				}
				catch (Error ex) {
					// no thread at present
					logger.debug("Not connected", ex);
					count(Outcome.REFUSED);
				}
			}
		}

		/** Returns whether it has failed and its threads have ended. */
		boolean isOver() {
			return this.open.get() == 0 && this.outcome.isDone() && this.outcome.join() != Outcome.CONNECTED;
		}

		private Outcome connect(Runnable command) {
			do {
				try {
					command.run();
					return Outcome.CONNECTED;
				}
				catch (RuntimeException | Error ex) {
					logger.debug("Not connected", ex);
					if (RedisErrors.isErrorReply(ex)) {
						// of several servers, the store itself reports those it can do
						// without
						if (FirstConnections.this.commands.size() == 1
								&& ex instanceof LockUnavailableException unavailable && unavailable.isPermanent()) {
							warn(unavailable);
						}
						return Outcome.CONNECTED;
					}
					if (!RedisErrors.isTimeout(ex)) {
						this.refusal = ex;
						return Outcome.REFUSED;
					}
				}
			}
			while (this.end - System.nanoTime() > 0 && !FirstConnections.this.closed);
			return Outcome.NO_REPLY;
		}

		private void count(Outcome one) {
			int servers = FirstConnections.this.commands.size();
			if (one == Outcome.CONNECTED && this.connected.incrementAndGet() == FirstConnections.this.required) {
				this.outcome.complete(Outcome.CONNECTED);
			}
			if (one == Outcome.REFUSED && this.refused.incrementAndGet() > servers - FirstConnections.this.required) {
				this.outcome.complete(Outcome.REFUSED);
				warn(this.refusal);
			}
			if (this.open.decrementAndGet() == 0) {
				this.outcome.complete(Outcome.NO_REPLY);
			}
		}

		Outcome await(long nanos) {
			try {
				return this.outcome.get(nanos, TimeUnit.NANOSECONDS);
			}
			catch (TimeoutException ex) {
				return Outcome.NO_REPLY;
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				return Outcome.NO_REPLY;
			}
			catch (ExecutionException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
