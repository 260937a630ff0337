package io.github.lockspring;

import java.util.Objects;

/**
 * Busy: somebody else held the lock for as long as the caller was willing to wait. A
 * normal outcome; the work did not run.
 */
public class LockNotAcquiredException extends LockException {

	private static final long serialVersionUID = 1L;

	private final String key;

	public LockNotAcquiredException(String key, String message) {
		super(message);
		this.key = Objects.requireNonNull(key, "key");
	}

	/**
	 * The key that was busy.
	 * @return the key, without the store's prefix
	 */
	public String getKey() {
		return this.key;
	}

}
