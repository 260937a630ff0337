package io.github.lockspring.store;

import java.time.Duration;

/**
 * Ends a tenure.
 *
 * @param key the user's key
 * @param token the tenure's owner token
 * @param ttl the lease that was asked for, by which the store knows how long to remember
 * the fencing token; zero if that is not known any more
 * @param lastFencingToken the largest fencing token used in the tenure if it was passed
 * on inside the instance, otherwise 0
 * @param keep the lock stays taken for this long and then ends by itself; zero: it is
 * free at once
 */
public record ReleaseRequest(String key, OwnerToken token, Duration ttl, long lastFencingToken, Duration keep) {

	/**
	 * Plainly gives a lock back, or leaves the queue, without knowing for how long it was
	 * asked for.
	 * @param key the user's key
	 * @param token the tenure's owner token
	 */
	public ReleaseRequest(String key, OwnerToken token) {
		this(key, token, Duration.ZERO, 0, Duration.ZERO);
	}

}
