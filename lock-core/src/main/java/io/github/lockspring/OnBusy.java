package io.github.lockspring;

/**
 * What an annotated method does when its lock is busy. An unavailable store is another
 * failure, {@link LockUnavailableException}, whatever this says.
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
	 * {@code Optional}, array, collection or map, of an {@code @Async} method a completed
	 * future. Without a {@code waitTime} there is one attempt. Refused at startup where
	 * the return type has no such value: a primitive or its wrapper, since false or zero
	 * would look like a result, and a type that is declared non-null.
	 */
	SKIP

}
