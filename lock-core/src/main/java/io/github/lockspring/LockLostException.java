package io.github.lockspring;

import java.util.Objects;

/**
 * The lock was lost while the work ran: part of it may have run beside another holder,
 * and what it wrote may be wrong.
 *
 * @since 0.1
 */
public class LockLostException extends LockException {

	private static final long serialVersionUID = 1L;

	private final String key;

	public LockLostException(String key, String message) {
		super(message);
		this.key = Objects.requireNonNull(key, "key");
	}

	/**
	 * Returns the key whose lock was lost.
	 * @return the key, without the store's prefix
	 */
	public String getKey() {
		return this.key;
	}

}
