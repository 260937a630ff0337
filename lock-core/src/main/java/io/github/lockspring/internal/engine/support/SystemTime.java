package io.github.lockspring.internal.engine.support;

import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.internal.base.MonotonicClock;

/**
 * A clock, and the parking of the JVM. Thread-safe.
 *
 * @since 0.1
 */
public final class SystemTime implements Time {

	private final MonotonicClock clock;

	/**
	 * Creates a time.
	 * @param clock the clock
	 */
	public SystemTime(MonotonicClock clock) {
		this.clock = clock;
	}

	@Override
	public long nanoTime() {
		return this.clock.getAsLong();
	}

	@Override
	public void park(Object blocker, long nanos) {
		LockSupport.parkNanos(blocker, nanos);
	}

	@Override
	public void unpark(Thread thread) {
		LockSupport.unpark(thread);
	}

}
