package io.github.lockspring.model.zookeeper;

/**
 * The rules of the protocol on ZooKeeper that the model can do without, to show what each
 * is for. The names in parentheses are those of the holes that they close.
 */
enum Rule {

	/** Without it a token is used again after a removal without an answer (Z1). */
	REMOVAL_IS_FINAL,
	/** Without it a list after a reconnection may be an earlier one (Z1, Z2). */
	SYNC,
	/** Without it a node of a session that was given up is adopted (Z3). */
	NODE_OF_PRESENT_SESSION,
	/** Without it the removal of a node that is gone tells no loss (Z4). */
	LOSS_IS_TOLD,
	/** Without it a waiter trusts its watch (Z5). */
	PLACE_IS_ASKED_FOR,
	/** Without it a session counts from the answer (Z6). */
	COUNTS_FROM_SENDING,
	/** Without it a suspension of the process does not count as time (Z6). */
	CLOCK_COUNTS_SUSPENSIONS,
	/** Without it the proof before the last is believed, however young (Z7). */
	PROOFS_ARE_APART,
	/**
	 * Without it a node that nobody knows of is not looked for before another one is
	 * made.
	 */
	LOOKS_BEFORE_ADDING

}
