package io.github.lockspring.store;

import java.time.Duration;

/**
 * Ends an ownership.
 *
 * @param key the user's key
 * @param token the owner token of the ownership
 * @param ttl the requested length of the lease, which determines for how long the store
 * remembers the fencing token; zero if it is not known any more
 * @param lastFencingToken the largest fencing token that was used in this ownership if
 * the lock was handed off inside the instance, otherwise 0
 * @param keep how long the lock stays held before it expires; zero to release it
 * immediately
 * @since 0.1
 */
public record ReleaseRequest(String key, OwnerToken token, Duration ttl, long lastFencingToken, Duration keep) {

	/**
	 * Creates a request that releases the lock immediately, or leaves the queue, for a
	 * lease of unknown length.
	 * @param key the user's key
	 * @param token the owner token of the ownership
	 */
	public ReleaseRequest(String key, OwnerToken token) {
		this(key, token, Duration.ZERO, 0, Duration.ZERO);
	}

}
