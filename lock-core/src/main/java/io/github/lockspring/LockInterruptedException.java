package io.github.lockspring;

/**
 * The thread was interrupted while it waited for a lock. The work did not run, a lock
 * that may have been acquired is released, and the thread's interrupt flag is set again.
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
