package io.github.lockspring.internal.engine.support;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes facts on to a recorder. One that fails, although it must not, breaks neither a
 * caller nor the renewal of a lease. Thread-safe.
 *
 * @since 0.1
 */
public final class Recording {

	/** Records nothing. */
	public static final Recording OFF = new Recording(LockRecorder.NONE, Runnable::run);

	private static final Logger logger = LoggerFactory.getLogger(Recording.class);

	private final LockRecorder recorder;

	private final Executor reports;

	private final AtomicBoolean failed = new AtomicBoolean();

	/**
	 * Creates the recording of an engine.
	 * @param recorder the recorder, or {@link LockRecorder#NONE}
	 * @param reports writes what the log has to say
	 */
	public Recording(LockRecorder recorder, Executor reports) {
		this.recorder = recorder;
		this.reports = reports;
	}

	/**
	 * Returns whether anything is recorded.
	 * @return false without a recorder
	 */
	public boolean isOn() {
		return this.recorder != LockRecorder.NONE;
	}

	/**
	 * Records something. Never throws.
	 * @param fact calls one method of the recorder
	 */
	public void add(Consumer<LockRecorder> fact) {
		try {
			fact.accept(this.recorder);
		}
		catch (RuntimeException | Error ex) {
			if (this.failed.compareAndSet(false, true)) {
				this.reports.execute(() -> logger
					.warn("The metrics of locks are incomplete: {} failed. This is logged once", this.recorder, ex));
			}
		}
	}

}
