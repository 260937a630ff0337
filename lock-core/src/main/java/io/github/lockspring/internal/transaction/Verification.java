package io.github.lockspring.internal.transaction;

/**
 * How to verify before a commit that the locks are still held.
 *
 * @since 0.1
 */
public enum Verification {

	/**
	 * Does not verify: a transaction commits even if its locks were lost.
	 */
	OFF,

	/**
	 * Verifies by this process's monotonic clock. Costs no round trip.
	 */
	LOCAL,

	/**
	 * Verifies by the clock and then by the store, which costs a round trip for each
	 * lock. Also detects that the store has lost its data since the last renewal.
	 */
	REMOTE

}
