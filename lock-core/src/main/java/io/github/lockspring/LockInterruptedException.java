package io.github.lockspring;

/**
 * Thrown if the thread was interrupted while waiting for a lock. The work did not run. If
 * the lock was acquired nevertheless, it is released. The thread's interrupt flag is set
 * again.
 *
 * @since 0.1
 */
public class LockInterruptedException extends LockException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception.
	 * @param key the key of the lock
	 * @param message what happened
	 */
	public LockInterruptedException(String key, String message) {
		super(key, message, null);
	}

}
