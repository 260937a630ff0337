package io.github.lockspring.internal.engine.support;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * A clock, and the parking of the JVM. Thread-safe.
 *
 * @since 0.1
 */
public final class SystemTime implements Time {

	private final LongSupplier clock;

	/**
	 * Creates a time.
	 * @param clock nanoseconds since an arbitrary moment
	 */
	public SystemTime(LongSupplier clock) {
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
