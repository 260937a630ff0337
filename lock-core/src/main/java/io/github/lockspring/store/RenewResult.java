package io.github.lockspring.store;

/**
 * The answer to a {@link RenewRequest}.
 */
public enum RenewResult {

	/**
	 * The token owns the lock and has at least the time asked for.
	 */
	RENEWED,

	/**
	 * The token does not own the lock.
	 */
	NOT_OWNER,

	/**
	 * This one was not answered, others in the same batch were.
	 */
	UNKNOWN

}
