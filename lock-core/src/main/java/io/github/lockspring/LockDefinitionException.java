package io.github.lockspring;

import org.jspecify.annotations.Nullable;

/**
 * An annotation of this library is wrong. Thrown when the application starts, or when a
 * bean is created that could not be checked before; never by a call, and so it is no
 * {@link LockException}. The message names the method, the attribute, its value and what
 * to do. A call whose key is null, empty or otherwise no key fails with an
 * {@code IllegalArgumentException}.
 *
 * @since 0.1
 */
public class LockDefinitionException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message what is wrong, where, and what to do
	 * @param cause the underlying error, or null
	 */
	protected LockDefinitionException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
