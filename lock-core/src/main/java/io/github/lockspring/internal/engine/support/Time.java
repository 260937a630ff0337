package io.github.lockspring.internal.engine.support;

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.internal.base.MonotonicClock;

/**
 * Monotonic time, and waiting for it: the only clock that decides anything. Tests replace
 * it. Times are compared by their difference, since nanoTime may overflow.
 *
 * @since 0.1
 */
public interface Time {

	/** The clock of the JVM, which counts the time of suspensions. */
	Time SYSTEM = MonotonicClock.SYSTEM::getAsLong;

	/**
	 * Longer than any time that can be requested, and short enough to be added to a time
	 * without overflow.
	 */
	long FOREVER = Long.MAX_VALUE / 4;

	/**
	 * Returns the present time.
	 * @return nanoseconds since an arbitrary moment
	 */
	long nanoTime();

	/**
	 * Returns the time of the wall clock, which people are shown and which decides
	 * nothing.
	 * @return microseconds since 1970
	 */
	default long wallMicros() {
		return TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
	}

	/**
	 * Parks the present thread as {@link LockSupport#parkNanos(Object, long)} does: until
	 * it is unparked or interrupted, the time is over, or for no reason.
	 * @param blocker what it waits for
	 * @param nanos longest time, in nanoseconds
	 */
	default void park(Object blocker, long nanos) {
		if (Thread.currentThread() instanceof ForkJoinWorkerThread) {
			parkWorker(blocker, nanos);
		}
		else {
			LockSupport.parkNanos(blocker, nanos);
		}
	}

	/**
	 * The pool gets another thread meanwhile, as for other calls that block. In the
	 * common pool others may depend on that: on Java 25 Lettuce cannot log in while all
	 * of its threads wait.
	 */
	private static void parkWorker(Object blocker, long nanos) {
		try {
			ForkJoinPool.managedBlock(new ForkJoinPool.ManagedBlocker() {

				@Override
				public boolean block() {
					LockSupport.parkNanos(blocker, nanos);
					return true;
				}

				@Override
				public boolean isReleasable() {
					return false;
				}

			});
		}
		catch (RejectedExecutionException ex) {
			// it has as many as it may have
			LockSupport.parkNanos(blocker, nanos);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Wakes a thread, or keeps it from parking the next time.
	 * @param thread the thread
	 */
	default void unpark(Thread thread) {
		LockSupport.unpark(thread);
	}

	/**
	 * Returns the earlier of two times.
	 * @param a a time
	 * @param b another time
	 * @return the earlier one
	 */
	static long earlier(long a, long b) {
		return (a - b <= 0) ? a : b;
	}

	/**
	 * Returns the later of two times.
	 * @param a a time
	 * @param b another time
	 * @return the later one
	 */
	static long later(long a, long b) {
		return (a - b >= 0) ? a : b;
	}

}
