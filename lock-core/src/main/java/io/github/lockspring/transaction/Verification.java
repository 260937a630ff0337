package io.github.lockspring.transaction;

/**
 * Who is asked before a commit whether the locks are still held.
 */
public enum Verification {

	/**
	 * Nobody: a transaction commits whatever has become of its locks.
	 */
	OFF,

	/**
	 * This process's monotonic clock. Costs no round trip.
	 */
	LOCAL,

	/**
	 * The clock, and then the store: a round trip for each lock. Notices too that the
	 * store has lost its data since the last renewal.
	 */
	REMOTE

}
