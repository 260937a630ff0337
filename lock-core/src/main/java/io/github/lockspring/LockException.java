package io.github.lockspring;

import org.jspecify.annotations.Nullable;

/**
 * Base class of all failures of a lock. An exception of a locked method itself is never
 * wrapped in it.
 *
 * @since 0.1
 */
public abstract class LockException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	protected LockException(String message) {
		super(message);
	}

	protected LockException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
