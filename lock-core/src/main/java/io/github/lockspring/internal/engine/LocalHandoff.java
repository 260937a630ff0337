package io.github.lockspring.internal.engine;

import io.github.lockspring.store.OwnerToken;

/**
 * Decides whether a lock that is released goes to the next waiter of this instance,
 * without a request to the store. Without rivals it does as long as the lease allows;
 * with rivals, for a bounded time. Values in, a decision out. The idea is lock cohorting.
 *
 * @param maxTime how long the lock stays in this instance while another one waits, in
 * nanoseconds
 * @see <a href="https://doi.org/10.1145/2145816.2145848">Dice, Marathe, Shavit: Lock
 * Cohorting (PPoPP 2012)</a>
 */
record LocalHandoff(long maxTime) {

	/** Keeps the fencing tokens of an ownership within a millisecond of its start. */
	private static final int MAX_HANDOFFS = OwnerToken.MAX_FENCING_TOKENS - 1;

	/**
	 * Decides whether the next waiter may get the lock.
	 * @param previous how the lock was held
	 * @param next how it would be held
	 * @param handoffs how often the lock was handed off in this ownership
	 * @param contended for how long another instance may have waited; negative if none
	 * does
	 */
	boolean isAllowed(LockParameters previous, LockParameters next, int handoffs, long contended) {
		return next.ttlNanos() == previous.ttlNanos() && handoffs < MAX_HANDOFFS && contended < this.maxTime;
	}

}
