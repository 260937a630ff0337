package io.github.lockspring;

import java.util.Objects;

/**
 * The thread was interrupted while it waited for a lock. The work did not run, a lock
 * that may have been acquired is released, and the thread's interrupt flag is set again.
 *
 * @since 0.1
 */
public class LockInterruptedException extends LockException {

	private static final long serialVersionUID = 1L;

	private final String key;

	public LockInterruptedException(String key, String message) {
		super(message);
		this.key = Objects.requireNonNull(key, "key");
	}

	/**
	 * Returns the key of the lock.
	 * @return the key, without the store's prefix
	 */
	public String getKey() {
		return this.key;
	}

}
