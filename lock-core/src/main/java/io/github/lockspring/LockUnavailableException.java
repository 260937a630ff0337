package io.github.lockspring;

import org.jspecify.annotations.Nullable;

/**
 * The store could not be asked, or gave no usable answer: nobody knows whether the lock
 * is free. The work did not run.
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
