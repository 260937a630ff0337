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
	SKIP,

	/**
	 * As {@link #SKIP}, and skips the method also when the store cannot be reached, as if
	 * the lock was busy: for jobs that run again soon. One warning is logged for each
	 * outage; the {@link LockEvent.Unavailable} of each call is published.
	 */
	SKIP_ALSO_UNAVAILABLE

}
