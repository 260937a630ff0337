package io.github.lockspring.store;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What a store is like. Immutable.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @param shortestTtl shortest ttl that it can give: an instance that dies with a lock
 * keeps it for its ttl at most. Requests for less are refused
 * @param granularity a lease lasts for a multiple of this; others are rounded up
 * @param longestLease longest lease that one request gives. A longer ttl is reached by
 * renewals, also if its lease is not to be renewed beyond it. Null if there is no limit
 * @since 0.1
 */
public record StoreTraits(Duration shortestTtl, Duration granularity, @Nullable Duration longestLease) {

	private static final StoreTraits EXACT = new StoreTraits(Duration.ofMillis(1), Duration.ofMillis(1), null);

	/**
	 * Returns the traits of a store that gives each lease as it is requested.
	 * @return the traits
	 */
	public static StoreTraits exact() {
		return EXACT;
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
