package io.github.lockspring.store;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;

import io.github.lockspring.LockUnavailableException;

/**
 * Finds and describes the locks of a store, for people and monitoring. Locking does not
 * depend on it. Optional: see {@link LockStore#inspector()}.
 * <p>
 * Implementations are thread-safe, block no longer than the given timeout, and throw only
 * {@link LockUnavailableException}, if there is no usable result.
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
	 * Ends an ownership found earlier, as a release by its owner would: the lock becomes
	 * free or is handed over to the first in the queue. Raises the fencing token of the
	 * key above the one found, so that the owner detects the loss at its next renewal or
	 * release, and the next owner's token is larger than all tokens of the former one.
	 * @param seen the lock, as returned by {@link #find}
	 * @param timeout maximum time to wait for the result
	 * @return false if the lock now has another owner or none; nothing was changed
	 * @throws LockUnavailableException if there is no result
	 */
	boolean forceRelease(StoredLock seen, Duration timeout);

	/**
	 * Stores the description of an instance for some time. Does nothing by default.
	 * @param instance the instance part of its owner tokens
	 * @param info the description
	 * @param ttl how long to keep the description
	 * @param timeout maximum time to wait
	 * @throws LockUnavailableException if that fails
	 */
	default void register(String instance, InstanceInfo info, Duration ttl, Duration timeout) {
	}

	/**
	 * Returns the descriptions of instances.
	 * @param instances the instance parts of owner tokens
	 * @param timeout maximum time to wait for the result
	 * @return the descriptions found
	 * @throws LockUnavailableException if there is no result
	 */
	default Map<String, InstanceInfo> instances(Collection<String> instances, Duration timeout) {
		return Map.of();
	}

}
