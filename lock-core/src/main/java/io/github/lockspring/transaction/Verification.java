package io.github.lockspring.transaction;

/**
 * How to verify before a commit that the locks are still held.
 *
 * @since 0.1
 */
public enum Verification {

	/**
	 * Not at all: a transaction commits whatever has become of its locks.
	 */
	OFF,

	/**
	 * By this process's monotonic clock. Costs no round trip.
	 */
	LOCAL,

	/**
	 * By the clock and then by the store: a round trip for each lock. Also notices that
	 * the store has lost its data since the last renewal.
	 */
	REMOTE

}
