package io.github.lockspring;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import io.github.lockspring.internal.base.CallChain;

/**
 * An acquired lock, held for as long as its lease lasts. Ownership belongs to this
 * object, not to a thread: any thread may query, extend or close it. All methods are
 * thread-safe.
 * <p>
 * If one call acquired several keys, this object represents all of them:
 * {@link #isHeld()} is true only if all are held, and {@link #remaining()} is the
 * shortest of their times.
 *
 * @since 0.1
 */
public interface HeldLock extends AutoCloseable {

	/**
	 * Returns the keys, without the store's prefix, in the order in which they were
	 * acquired.
	 * @return the keys, at least one
	 */
	List<String> keys();

	/**
	 * Returns a number that is larger than the fencing token of every earlier holder of
	 * the key. A resource that rejects tokens smaller than the largest it has seen is
	 * safe from a holder that was paused beyond its lease. Positive, and below
	 * 2<sup>53</sup> on each store but ZooKeeper after 2,047 elections of a leader.
	 * @return the fencing token
	 * @throws IllegalStateException if several keys were acquired: each has its own
	 * token, see {@link #fencingToken(String)}
	 * @see <a href=
	 * "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">How to
	 * do distributed locking</a>
	 */
	long fencingToken();

	/**
	 * Returns the fencing token of one of the keys.
	 * @param key one of {@link #keys()}
	 * @return the fencing token, as {@link #fencingToken()}
	 * @throws IllegalArgumentException if the lock does not have this key
	 */
	long fencingToken(String key);

	/**
	 * Returns the time until the lease ends unless it is renewed. Uses the monotonic
	 * clock of this process, without a round trip to the store.
	 * @return the time left, zero if the lock is no longer held
	 */
	Duration remaining();

	/**
	 * Returns whether the lease still lasts. Uses the monotonic clock of this process,
	 * without a round trip to the store. Once false, it stays false.
	 * @return whether the lock is held
	 */
	boolean isHeld();

	/**
	 * Throws an exception unless {@link #isHeld()}.
	 * @throws LockLostException if the lock was lost
	 * @throws IllegalStateException if it was closed
	 */
	void ensureHeld();

	/**
	 * Extends the lease, if necessary, to at least the given time from now. Makes a round
	 * trip to the store, which also verifies that the lock is still held.
	 * @param duration the time that must be left, 100 milliseconds to 365 days
	 * @throws LockLostException if the lock was lost
	 * @throws LockUnavailableException if the store did not reply; the lease is unchanged
	 * @throws IllegalStateException if it was closed
	 */
	void extend(Duration duration);

	/**
	 * Releases the lock. Further calls do nothing. If the store cannot be reached, logs a
	 * warning and repeats the release in the background until the store replies or the
	 * lease ends.
	 * @throws LockLostException if the lock was already lost
	 */
	@Override
	void close();

	/**
	 * Returns the lock of the innermost annotated method or {@link LockTemplate#execute}
	 * running on this thread. If the call acquired several keys, the lock represents all
	 * of them.
	 * @return the lock, or empty if the call chain holds none
	 */
	static Optional<HeldLock> current() {
		return CallChain.current(HeldLock.class);
	}

	/**
	 * Returns the lock with this key that the current call chain holds through an
	 * annotated method or {@link LockTemplate#execute}.
	 * @param key the key, without the store's prefix
	 * @return the lock of this key alone, or empty if the call chain does not hold it
	 */
	static Optional<HeldLock> current(String key) {
		Objects.requireNonNull(key, "key");
		return CallChain.currentLocks(HeldLock.class).stream().filter((lock) -> lock.keys().contains(key)).findFirst();
	}

}
