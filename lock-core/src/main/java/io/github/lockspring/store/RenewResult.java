package io.github.lockspring.store;

/**
 * The result of a {@link RenewRequest}.
 *
 * @since 0.1
 */
public enum RenewResult {

	/**
	 * The token owns the lock, and at least the requested time is left.
	 */
	RENEWED,

	/**
	 * The token does not own the lock.
	 */
	NOT_OWNER,

	/**
	 * There is no result for this request, but for others in the same batch.
	 */
	UNKNOWN

}
