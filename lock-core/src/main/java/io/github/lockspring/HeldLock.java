package io.github.lockspring;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A lock that was granted, for as long as its lease lasts. Ownership belongs to this
 * object, never to a thread: any thread may ask, extend or close it. All methods are
 * thread-safe.
 * <p>
 * When several keys were taken in one call, this stands for all of them: {@link #locks()}
 * gives each one, and the answers below are those of the weakest.
 */
public interface HeldLock extends AutoCloseable {

	/**
	 * The key, without the store's prefix; of several keys the first in their order.
	 * @return the key
	 */
	String key();

	/**
	 * The lock of each key, in the order in which they were taken; of a single key, this
	 * lock itself.
	 * @return the locks, never empty
	 */
	List<HeldLock> locks();

	/**
	 * A number that is larger than that of every earlier holder of the key: a resource
	 * that refuses a number smaller than the largest it has seen is safe from a holder
	 * that was paused beyond its lease. Positive and below 2<sup>53</sup>.
	 * @return the fencing token
	 * @throws IllegalStateException if several keys were taken: each has its own, see
	 * {@link #locks()}
	 * @see <a href=
	 * "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">How to
	 * do distributed locking</a>
	 */
	long fencingToken();

	/**
	 * The time until the lease ends unless it is renewed, by this process's monotonic
	 * clock and without asking the store.
	 * @return the time left, zero if the lock is no longer held
	 */
	Duration remaining();

	/**
	 * Whether the lease still lasts, by this process's monotonic clock and without asking
	 * the store. Once false, false for ever.
	 * @return whether the lock is held
	 */
	boolean isHeld();

	/**
	 * Does nothing while {@link #isHeld()}.
	 * @throws LockLostException if the lock was lost
	 * @throws IllegalStateException if it was closed
	 */
	void ensureHeld();

	/**
	 * Asks the store whether it still has this lock, and renews the lease on the way. For
	 * a moment in which being almost sure is not enough; {@link #ensureHeld()} costs no
	 * round trip.
	 * @throws LockLostException if the lock was lost
	 * @throws LockUnavailableException if the store gave no answer; the lease is as it
	 * was
	 * @throws IllegalStateException if it was closed
	 */
	void verify();

	/**
	 * What was asked to happen when the lock is lost. Where the call chain has entered it
	 * again and the requests differ, {@link OnLost#NOTIFY} counts least.
	 * @return what happens
	 */
	OnLost onLost();

	/**
	 * Lengthens the lease, if need be, so that at least the given time is left. Asks the
	 * store.
	 * @param duration the time that should be left, as for
	 * {@link LockRequest#ttl(Duration)}
	 * @throws LockLostException if the lock was lost
	 * @throws LockUnavailableException if the store gave no answer; the lease is as it
	 * was
	 * @throws IllegalStateException if it was closed
	 */
	void extend(Duration duration);

	/**
	 * Gives the lock back. Does nothing the second time. If the store cannot be reached,
	 * a warning is logged and the lease runs out by itself.
	 * @throws LockLostException if the lock was lost before, unless the request said
	 * {@link OnLost#NOTIFY}
	 */
	@Override
	void close();

	/**
	 * The lock with this key that the present call chain holds, through an annotated
	 * method or {@link LockTemplate#execute}.
	 * @param key the key, without the store's prefix
	 * @return the lock, or empty if the call chain holds none with this key
	 */
	static Optional<HeldLock> current(String key) {
		return LockContext.current(key);
	}

}
