package io.github.lockspring.bank;

/**
 * When something happens, as seen from a transfer.
 */
enum Moment {

	/** At any time. */
	ANYWHERE,

	/**
	 * A transfer has its locks; its transaction is about to begin, and no token was
	 * compared yet.
	 */
	BEFORE_TRANSACTION,

	/** A transfer has read both balances, and is about to write them. */
	IN_SECTION

}
