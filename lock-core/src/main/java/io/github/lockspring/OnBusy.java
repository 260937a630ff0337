package io.github.lockspring;

/**
 * What an annotated method does when its lock is busy.
 */
public enum OnBusy {

	/**
	 * {@link LockNotAcquiredException} is thrown.
	 */
	THROW,

	/**
	 * The method is not run; the empty value of its return type is returned: null, an
	 * empty {@code Optional} or collection, zero or false. Without a {@code waitTime} one
	 * attempt is made.
	 */
	SKIP

}
