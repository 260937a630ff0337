package io.github.lockspring.internal.engine;

import io.github.lockspring.store.OwnerToken;

/**
 * Decides whether a lock that is released goes to the next waiter of this instance,
 * without a request to the store. Without rivals it does as long as the lease allows;
 * with rivals, for a bounded time. Values in, a decision out. The idea is lock cohorting.
 *
 * @see <a href="https://doi.org/10.1145/2145816.2145848">Dice, Marathe, Shavit: Lock
 * Cohorting (PPoPP 2012)</a>
 */
final class LocalHandoff {

	/**
	 * How long a lock stays in this instance while another one waits: many short holds
	 * share one hand-over, and nobody notices the wait.
	 */
	static final long MAX_NANOS = 10_000_000;

	/**
	 * Each hand-off takes the next fencing token: the store leaves so many of them
	 * between two owners.
	 */
	private static final int MAX_HANDOFFS = OwnerToken.MAX_FENCING_TOKENS - 1;

	private LocalHandoff() {
	}

	/**
	 * Decides whether the next waiter may get the lock.
	 * @param previous how the lock was held
	 * @param next how it would be held
	 * @param lease the lease, of which enough has to be left
	 * @param handoffs how often the lock was handed off in this ownership
	 * @param contended for how long another instance may have waited; negative if none
	 * does
	 */
	static boolean isAllowed(LockParameters previous, LockParameters next, Lease lease, int handoffs, long contended,
			long now) {
		return next.ttlNanos() == previous.ttlNanos() && lease.mayBeHandedOff(now) && handoffs < MAX_HANDOFFS
				&& contended < MAX_NANOS;
	}

}
