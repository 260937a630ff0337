package io.github.lockspring;

/**
 * Thrown if the lock was busy for the whole wait time. This is a normal outcome; the work
 * did not run.
 *
 * @since 0.1
 */
public class LockNotAcquiredException extends LockException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception.
	 * @param key the key of the lock
	 * @param message what happened
	 */
	public LockNotAcquiredException(String key, String message) {
		super(key, message, null);
	}

}
