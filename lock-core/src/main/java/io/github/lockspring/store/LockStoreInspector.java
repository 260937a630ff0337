package io.github.lockspring.store;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;

import io.github.lockspring.LockUnavailableException;

/**
 * Answers people's questions about the locks of a store. No lock depends on it. Optional:
 * see {@link LockStore#inspector()}.
 * <p>
 * Implementations are thread-safe, block no longer than the timeout they are given, and
 * throw {@link LockUnavailableException}, and no other exception, if there is no usable
 * result.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @since 0.1
 */
public interface LockStoreInspector {

	/**
	 * Finds a lock.
	 * @param key the user's key
	 * @param timeout maximum time to wait for the result
	 * @return the lock, or empty if it is free
	 * @throws LockUnavailableException if there is no result
	 */
	Optional<StoredLock> find(String key, Duration timeout);

	/**
	 * Ends the ownership that was seen, as its owner's release would: the lock becomes
	 * free, or is handed over to the first in the queue. Raises the fencing token of the
	 * key above the one that was seen, so the owner learns of its loss at its next
	 * renewal or at its release, and the next owner's token is larger than each of its
	 * own.
	 * @param seen the lock, as {@link #find} has returned it
	 * @param timeout maximum time to wait for the result
	 * @return false if the lock has another owner or none by now; nothing was changed
	 * @throws LockUnavailableException if there is no result
	 */
	boolean forceRelease(StoredLock seen, Duration timeout);

	/**
	 * Remembers for some time who an instance is. Does nothing in a store that cannot.
	 * @param instance the instance part of its owner tokens
	 * @param info describes it
	 * @param ttl how long to remember it
	 * @param timeout maximum time to wait
	 * @throws LockUnavailableException if that fails
	 */
	default void register(String instance, InstanceInfo info, Duration ttl, Duration timeout) {
	}

	/**
	 * Says who instances are.
	 * @param instances the instance parts of owner tokens
	 * @param timeout maximum time to wait for the result
	 * @return those that are known
	 * @throws LockUnavailableException if there is no result
	 */
	default Map<String, InstanceInfo> instances(Collection<String> instances, Duration timeout) {
		return Map.of();
	}

}
