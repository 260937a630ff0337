package io.github.lockspring.internal.engine.support;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.github.lockspring.LockEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the listeners what happens, and writes the log for threads that must not be held
 * up: both run code of others, which may block. A listener that fails breaks nothing and
 * keeps no other listener from being told. Thread-safe.
 * <p>
 * For maintainers: {@link #publishAsync} and {@link #execute} may be called under the
 * lock of a key, and on the threads of the watchdog and the driver. What they are given
 * runs on one thread, in order. If that is blocked for long, the number of what waits is
 * bounded, and the number of what was dropped is logged when it goes on.
 *
 * @since 0.1
 */
public final class LockEvents implements Executor {

	private static final Logger logger = LoggerFactory.getLogger(LockEvents.class);

	private static final int MAX_WAITING = 10_000;

	/**
	 * Hears nothing.
	 */
	public static final Consumer<LockEvent> NOBODY = (event) -> {
	};

	private final Consumer<LockEvent> listener;

	private final Executor executor;

	private final AtomicInteger waiting = new AtomicInteger();

	private final AtomicInteger dropped = new AtomicInteger();

	/**
	 * Creates the events of an engine.
	 * @param listener is told what happens, or {@link #NOBODY}
	 * @param executor has one thread, for {@link #publishAsync} and {@link #execute}
	 */
	public LockEvents(Consumer<LockEvent> listener, Executor executor) {
		this.listener = listener;
		this.executor = executor;
	}

	/**
	 * Returns whether anything that is published is heard.
	 * @return false if there is no listener
	 */
	public boolean isHeard() {
		return this.listener != NOBODY;
	}

	/**
	 * Tells the listener on the present thread.
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
	 * Tells the listener, not on the present thread.
	 * @param event what happened
	 */
	public void publishAsync(LockEvent event) {
		if (isHeard()) {
			execute(() -> publish(event));
		}
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
	 * Returns whether everything has been told and written.
	 * @return false while something waits or is being reported
	 */
	public boolean isIdle() {
		return this.waiting.get() == 0;
	}

}
