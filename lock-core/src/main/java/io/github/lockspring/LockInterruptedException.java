package io.github.lockspring;

import java.util.Objects;

/**
 * The thread was interrupted while it waited for a lock. The work did not run, what may
 * have been acquired is given back, and the thread's interrupt flag is set again.
 */
public class LockInterruptedException extends LockException {

	private static final long serialVersionUID = 1L;

	private final String key;

	public LockInterruptedException(String key, String message) {
		super(message);
		this.key = Objects.requireNonNull(key, "key");
	}

	/**
	 * The key that was waited for.
	 * @return the key, without the store's prefix
	 */
	public String getKey() {
		return this.key;
	}

}
