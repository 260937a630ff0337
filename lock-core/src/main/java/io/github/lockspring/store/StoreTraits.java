package io.github.lockspring.store;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The capabilities and limits of a store. Immutable.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @param shortestTtl the shortest ttl that the store can guarantee, that is, after which
 * the lock of a dead instance becomes free. Shorter requests are rejected
 * @param longestLease the longest lease that one request grants; null if there is no
 * limit. A longer ttl is reached by renewing, even if the request asks for a lease
 * without renewal
 * @param ordered whether the requests of this instance for one key are executed in the
 * order in which they were sent
 * @param blocking whether a request occupies the thread that sends it until it has
 * finished
 * @since 0.1
 */
public record StoreTraits(Duration shortestTtl, @Nullable Duration longestLease, boolean ordered, boolean blocking) {

	private static final StoreTraits EXACT = new StoreTraits(Duration.ofMillis(1), null, false, false);

	/**
	 * Returns the traits of a store that grants each lease as requested, and is neither
	 * ordered nor blocking.
	 * @return the traits
	 */
	public static StoreTraits exact() {
		return EXACT;
	}

	/**
	 * Returns these traits with another value of {@link #ordered()}.
	 * @param ordered whether requests for one key are executed in order
	 * @return the new traits
	 */
	public StoreTraits withOrdered(boolean ordered) {
		return new StoreTraits(this.shortestTtl, this.longestLease, ordered, this.blocking);
	}

	/**
	 * Returns these traits with another value of {@link #blocking()}.
	 * @param blocking whether a request occupies the thread that sends it
	 * @return the new traits
	 */
	public StoreTraits withBlocking(boolean blocking) {
		return new StoreTraits(this.shortestTtl, this.longestLease, this.ordered, blocking);
	}

	/**
	 * Returns the length of the lease to request.
	 * @param ttl the requested ttl
	 * @return the ttl, or the longest lease if that is shorter
	 */
	public Duration lease(Duration ttl) {
		return (this.longestLease != null && ttl.compareTo(this.longestLease) > 0) ? this.longestLease : ttl;
	}

}
