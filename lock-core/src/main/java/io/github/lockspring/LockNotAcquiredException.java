package io.github.lockspring;

import java.util.Objects;

/**
 * The lock is busy: another holder had it for the whole wait time. A normal outcome; the
 * work did not run.
 *
 * @since 0.1
 */
public class LockNotAcquiredException extends LockException {

	private static final long serialVersionUID = 1L;

	private final String key;

	public LockNotAcquiredException(String key, String message) {
		super(message);
		this.key = Objects.requireNonNull(key, "key");
	}

	/**
	 * Returns the key that was busy.
	 * @return the key, without the store's prefix
	 */
	public String getKey() {
		return this.key;
	}

}
