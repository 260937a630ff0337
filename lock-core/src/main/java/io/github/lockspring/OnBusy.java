package io.github.lockspring;

/**
 * The reaction of an annotated method to a busy lock. An unavailable store always causes
 * a {@link LockUnavailableException}.
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
	 * {@code Optional}, array, collection or map, or a completed future for an
	 * {@code @Async} method. Makes a single attempt unless there is a {@code waitTime}.
	 * Rejected at startup if the return type has no empty value: a primitive or its
	 * wrapper, since false or zero would look like a result, or a type that is declared
	 * non-null.
	 */
	SKIP

}
