package io.github.lockspring;

import org.jspecify.annotations.Nullable;

/**
 * Root of everything that can go wrong with a lock. What a guarded method itself throws
 * is never wrapped in it.
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
