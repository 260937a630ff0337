package io.github.lockspring.internal.engine;

/**
 * Decides when a lease ends, when it is renewed, and whether it needs to be. Values in, a
 * decision out; all times in nanoseconds.
 * <p>
 * One rule serves renewed and fixed leases, short leases after a hand-over and the
 * longest hold: a lease is renewed while it ends before the hold's limit (by more than a
 * tenth of the ttl), and for no longer than that limit allows.
 */
final class RenewalPolicy {

	private RenewalPolicy() {
	}

	/**
	 * Returns what a lease may be off by, between two clocks.
	 */
	static long drift(long lease) {
		return lease / 100 + 2_000_000;
	}

	/**
	 * Returns when a lease ends that was given by a request sent at the given time.
	 */
	static long deadline(long sent, long lease) {
		return sent + lease - drift(lease);
	}

	/**
	 * Returns when a lease is renewed: a renewal that fails can be tried again before the
	 * lease ends, more than once.
	 */
	static long renewAt(long sent, long lease) {
		return sent + lease / 3;
	}

	/**
	 * Returns when a renewal is repeated that has failed.
	 */
	static long retryAt(long now, long lease) {
		return now + lease / 10;
	}

	/**
	 * Returns when a renewal is repeated that has brought no result, not even a failure:
	 * no earlier than the store may take for an answer.
	 */
	static long repeatAt(long now, long lease) {
		return now + lease / 3;
	}

	/**
	 * Returns how much earlier than due a lease may be renewed, together with others.
	 */
	static long window(long lease) {
		return lease / 6;
	}

	/**
	 * Returns whether a lease ends before the hold may. This alone decides whether a lock
	 * is renewed: the limit of a lock with {@code renew = false} is its ttl.
	 */
	static boolean isNeeded(long deadline, long limit, long ttl) {
		return deadline - (limit - ttl / 10) < 0;
	}

}
