package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.github.lockspring.LockEvent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes events to the listener and the recorder, and runs log statements for threads
 * that must not be held up: listeners and log run code of others, which may block. A
 * listener or a recorder that fails breaks nothing: neither a caller nor the renewal of a
 * lease. Thread-safe.
 *
 * @since 0.1
 */
/*
 * For maintainers: `publishAsync` and `execute` may be called under the lock of a key,
 * and on the threads of the watchdog and the driver. What they are given runs on one
 * thread, in order. If that is blocked for long, the number of what waits is bounded, and
 * the number of what was dropped is logged when it goes on.
 */
public final class LockEvents implements Executor {

	private static final Logger logger = LoggerFactory.getLogger(LockEvents.class);

	private static final int MAX_WAITING = 10_000;

	/**
	 * Ignores all events.
	 */
	public static final Consumer<LockEvent> NOBODY = (event) -> {
	};

	private final Consumer<LockEvent> listener;

	private final LockRecorder recorder;

	private final Executor executor;

	private final AtomicBoolean recorderFailed = new AtomicBoolean();

	private final AtomicInteger waiting = new AtomicInteger();

	private final AtomicInteger dropped = new AtomicInteger();

	/**
	 * Creates the events of an engine.
	 * @param listener receives the events, or {@link #NOBODY}
	 * @param recorder receives them as numbers, or {@link LockRecorder#NONE}
	 * @param executor has one thread, for {@link #publishAsync} and {@link #execute}
	 */
	public LockEvents(Consumer<LockEvent> listener, LockRecorder recorder, Executor executor) {
		this.listener = listener;
		this.recorder = recorder;
		this.executor = executor;
	}

	/**
	 * Returns whether anything is recorded.
	 * @return false without a recorder
	 */
	public boolean isRecorded() {
		return this.recorder != LockRecorder.NONE;
	}

	/**
	 * Records something, on the present thread. Never throws.
	 * @param fact calls one method of the recorder
	 */
	public void record(Consumer<LockRecorder> fact) {
		try {
			fact.accept(this.recorder);
		}
		catch (RuntimeException | Error ex) {
			if (this.recorderFailed.compareAndSet(false, true)) {
				execute(() -> logger.warn("The metrics of locks are incomplete: {} failed. This is logged once",
						this.recorder, ex));
			}
		}
	}

	/**
	 * Calls the listener on the present thread.
	 * @param event what happened
	 */
	public void publish(LockEvent event) {
		try {
			this.listener.accept(event);
		}
		catch (Throwable ex) {
			logger.error("A lock listener failed on {}", event, ex);
		}
	}

	/**
	 * Calls the listener, but not on the present thread.
	 * @param event what happened
	 */
	public void publishAsync(LockEvent event) {
		execute(() -> publish(event));
	}

	/**
	 * Writes to the log, not on the present thread. Never throws.
	 * @param report writes to the log
	 */
	@Override
	public void execute(Runnable report) {
		if (this.waiting.incrementAndGet() > MAX_WAITING) {
			drop();
			return;
		}
		try {
			this.executor.execute(() -> run(report));
		}
		catch (RuntimeException | Error ex) {
			// an error too: the machine may be out of threads
			drop();
		}
	}

	private void drop() {
		this.waiting.decrementAndGet();
		this.dropped.incrementAndGet();
	}

	private void run(Runnable report) {
		try {
			report.run();
			int lost = this.dropped.getAndSet(0);
			if (lost > 0) {
				logger.error("{} lock events and log messages were dropped, because a listener or an appender was"
						+ " blocked, or no thread could be started", lost);
			}
		}
		catch (Throwable ex) {
			logger.error("A lock event could not be reported", ex);
		}
		finally {
			this.waiting.decrementAndGet();
		}
	}

	/**
	 * Returns whether all events are delivered and all log statements have run.
	 * @return false while something waits or is being reported
	 */
	public boolean isIdle() {
		return this.waiting.get() == 0;
	}

	/**
	 * A request has acquired a lock.
	 *
	 * @param key the key
	 * @param name the label, or null
	 * @param fencingToken the fencing token
	 * @param waited time since the call began
	 */
	public record Acquired(String key, @Nullable String name, long fencingToken,
			Duration waited) implements LockEvent.Acquired {
	}

	/**
	 * A lock was busy for the whole wait time.
	 *
	 * @param key the key
	 * @param name the label, or null
	 * @param waited time since the call began
	 */
	public record NotAcquired(String key, @Nullable String name, Duration waited) implements LockEvent.NotAcquired {
	}

	/**
	 * The store gave no result.
	 *
	 * @param key the key
	 * @param name the label, or null
	 * @param waited time since the call began
	 * @param cause the last failure
	 */
	public record Unavailable(String key, @Nullable String name, Duration waited,
			Throwable cause) implements LockEvent.Unavailable {
	}

	/**
	 * A lock was lost.
	 *
	 * @param key the key
	 * @param name the label, or null
	 * @param fencingToken the fencing token
	 * @param held time since the acquisition
	 * @param cause what was observed
	 * @param reason what was observed, a part of a sentence
	 */
	public record Lost(String key, @Nullable String name, long fencingToken, Duration held, LockEvent.Lost.Cause cause,
			String reason) implements LockEvent.Lost {
	}

	/**
	 * A hold has ended in time.
	 *
	 * @param key the key
	 * @param name the label, or null
	 * @param fencingToken the fencing token
	 * @param held time since the acquisition
	 */
	public record Released(String key, @Nullable String name, long fencingToken,
			Duration held) implements LockEvent.Released {
	}

}
