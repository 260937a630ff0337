package io.github.lockspring.engine;

import java.util.concurrent.locks.LockSupport;

/**
 * Monotonic time and waiting for it: the only clock that decides anything. Tests turn it
 * by hand.
 */
interface Time {

	Time SYSTEM = new Time() {

		@Override
		public long nanoTime() {
			return System.nanoTime();
		}

		@Override
		public void park(Object blocker, long nanos) {
			LockSupport.parkNanos(blocker, nanos);
		}

		@Override
		public void unpark(Thread thread) {
			LockSupport.unpark(thread);
		}

	};

	/**
	 * Longer than anything that can be asked for, short enough to be added to a time
	 * without overflow.
	 */
	long FOREVER = Long.MAX_VALUE / 4;

	long nanoTime();

	/**
	 * Parks the present thread as {@link LockSupport#parkNanos(Object, long)} does: until
	 * unparked, interrupted, the time is over, or for no reason.
	 * @param blocker what it waits for
	 * @param nanos longest time
	 */
	void park(Object blocker, long nanos);

	void unpark(Thread thread);

	static long earlier(long a, long b) {
		return (a - b <= 0) ? a : b;
	}

	static long later(long a, long b) {
		return (a - b >= 0) ? a : b;
	}

}
