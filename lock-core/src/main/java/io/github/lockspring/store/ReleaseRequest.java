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

	/**
	 * Returns the request to send some time later, which keeps the lock no longer than
	 * this one.
	 * @param time what has passed
	 * @return this request, or one with a shorter {@link #keep}
	 */
	public ReleaseRequest elapsed(Duration time) {
		if (this.keep.isZero()) {
			return this;
		}
		Duration left = (time.compareTo(this.keep) < 0) ? this.keep.minus(time) : Duration.ZERO;
		return new ReleaseRequest(this.key, this.token, this.ttl, this.lastFencingToken, left);
	}

}
