package io.github.lockspring.internal;

import java.util.List;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * A lock as the engine hands it out: the lock of one key, or of several ones together.
 *
 * @since 0.1
 */
public interface KeyedLock extends HeldLock {

	/**
	 * Returns the key, without the store's prefix; of several keys the first in order.
	 * @return the key
	 */
	String key();

	/**
	 * Returns the label of the request, for messages and meters; of several keys that of
	 * the first in order.
	 * @return the label, or null if the request gave none
	 */
	@Nullable String name();

	/**
	 * Returns the lock of each key, in the order in which they were taken; for a single
	 * key this lock itself.
	 * @return the locks, never empty
	 */
	List<? extends KeyedLock> locks();

	/**
	 * Verifies with the store that the lock is still held, and renews the lease in the
	 * same round trip. For moments in which the local clock is not enough.
	 * @throws LockLostException if the lock was lost
	 * @throws LockUnavailableException if the store did not reply; the lease is unchanged
	 * @throws IllegalStateException if it was closed
	 */
	void verify();

	@Override
	default List<String> keys() {
		return locks().stream().map(KeyedLock::key).toList();
	}

	@Override
	default long fencingToken(String key) {
		KeyedLock lock = locks().stream().filter((each) -> each.key().equals(key)).findFirst().orElse(null);
		if (lock == null) {
			throw new IllegalArgumentException("'" + key + "' is none of the keys of this lock: " + keys());
		}
		return lock.fencingToken();
	}

}
