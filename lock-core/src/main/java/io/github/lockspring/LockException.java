package io.github.lockspring;

import org.jspecify.annotations.Nullable;

/**
 * Base class of all lock failures. Never wraps an exception thrown by the locked method
 * itself. The message names the lock, the application that holds it and the remedy, but
 * no host, process or SQL; those are in the cause and in the log.
 *
 * @since 0.1
 */
public abstract class LockException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final @Nullable String key;

	/**
	 * Creates an exception.
	 * @param key the key of the lock, or null if it is not known
	 * @param message what happened
	 * @param cause the cause, or null
	 */
	protected LockException(@Nullable String key, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.key = key;
	}

	/**
	 * Returns the key of the lock.
	 * @return the key, without the store's prefix; null if the failure does not concern a
	 * single lock
	 */
	public @Nullable String getKey() {
		return this.key;
	}

}
