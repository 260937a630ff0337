package io.github.lockspring;

/**
 * Thrown if the lock was lost while the work ran. Part of the work may have run at the
 * same time as another holder's, and the data it wrote may be wrong.
 *
 * @since 0.1
 */
public class LockLostException extends LockException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates an exception.
	 * @param key the key of the lock
	 * @param message what happened
	 */
	public LockLostException(String key, String message) {
		super(key, message, null);
	}

}
