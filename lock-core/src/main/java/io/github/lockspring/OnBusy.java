package io.github.lockspring;

/**
 * What an annotated method does when its lock is busy.
 *
 * @since 0.1
 */
public enum OnBusy {

	/**
	 * Throws {@link LockNotAcquiredException}.
	 */
	THROW,

	/**
	 * Skips the method and returns the empty value of its return type: null, an empty
	 * {@code Optional} or collection, zero or false. Without a {@code waitTime} there is
	 * one attempt.
	 */
	SKIP

}
