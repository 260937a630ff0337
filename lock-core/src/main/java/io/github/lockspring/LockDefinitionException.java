package io.github.lockspring;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if an annotation of this library is invalid: at startup, or when a bean is
 * created that could not be checked earlier. A call never throws it, so it is not a
 * {@link LockException}. The message names the method, the attribute, its value and the
 * remedy. A call whose key is null, empty or otherwise invalid fails with an
 * {@code IllegalArgumentException} instead.
 *
 * @since 0.1
 */
public class LockDefinitionException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the problem, its location and the remedy
	 * @param cause the underlying error, or null
	 */
	protected LockDefinitionException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
