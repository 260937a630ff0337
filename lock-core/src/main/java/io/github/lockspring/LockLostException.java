package io.github.lockspring;

/**
 * The lock was lost while the work ran: part of it may have run beside another holder,
 * and what it wrote may be wrong.
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
