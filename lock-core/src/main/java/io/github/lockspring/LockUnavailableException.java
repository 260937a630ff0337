package io.github.lockspring;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the store could not be reached or returned no usable result. It is unknown
 * whether the lock is free. The work did not run.
 *
 * @since 0.1
 */
public class LockUnavailableException extends LockException {

	private static final long serialVersionUID = 1L;

	public LockUnavailableException(String message) {
		super(message);
	}

	public LockUnavailableException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
