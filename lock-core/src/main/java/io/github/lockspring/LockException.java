package io.github.lockspring;

import org.jspecify.annotations.Nullable;

/**
 * Base class of all failures of a lock. An exception of a locked method itself is never
 * wrapped in it. Its message names the lock and what to do, and can be shown to the
 * caller of an application; hosts and the like are in the cause and in the log.
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
	 * @return the key, without the store's prefix; null if the failure belongs to no
	 * single lock
	 */
	public @Nullable String getKey() {
		return this.key;
	}

}
