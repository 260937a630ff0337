package io.github.lockspring;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the store could not be reached or returned no usable result. If it concerns
 * the lock that was to be acquired, the work did not run. If it comes from
 * {@link HeldLock#extend} or from the check before a commit, it did. It is unknown
 * whether the lock is free. The cause names the failure, and the server if it is known.
 *
 * @since 0.1
 */
public class LockUnavailableException extends LockException {

	private static final long serialVersionUID = 1L;

	private final @Nullable String remedy;

	private final boolean permanent;

	/**
	 * Creates an exception about a store.
	 * @param message the problem
	 */
	public LockUnavailableException(String message) {
		this(message, null);
	}

	/**
	 * Creates an exception about a store.
	 * @param message the problem
	 * @param cause the cause, or null
	 */
	public LockUnavailableException(String message, @Nullable Throwable cause) {
		this(message, cause, false);
	}

	/**
	 * Creates an exception about a store.
	 * @param message the problem
	 * @param cause the cause, or null
	 * @param permanent whether waiting is useless, for example because of a wrong
	 * password
	 */
	public LockUnavailableException(String message, @Nullable Throwable cause, boolean permanent) {
		this(message, null, cause, permanent);
	}

	/**
	 * Creates an exception about a store, whose message ends with the remedy.
	 * @param problem the problem, without a full stop
	 * @param remedy a sentence without a full stop and without details such as hosts; or
	 * null
	 * @param cause the cause, or null
	 * @param permanent whether waiting is useless
	 */
	public LockUnavailableException(String problem, @Nullable String remedy, @Nullable Throwable cause,
			boolean permanent) {
		super(null, (remedy != null) ? problem + (problem.endsWith("?") ? " " : ". ") + remedy : problem, cause);
		this.remedy = remedy;
		this.permanent = permanent;
	}

	/**
	 * Creates an exception about a lock.
	 * @param key the key of the lock
	 * @param message the operation that failed
	 * @param cause the failure of the store
	 */
	public LockUnavailableException(String key, String message, LockUnavailableException cause) {
		super(key, message, cause);
		this.remedy = cause.getRemedy();
		this.permanent = cause.permanent;
	}

	/**
	 * Returns the remedy, without details such as hosts.
	 * @return a sentence without a full stop; null if there is none
	 */
	public @Nullable String getRemedy() {
		if (this.remedy == null && getCause() instanceof LockUnavailableException cause) {
			return cause.getRemedy();
		}
		return this.remedy;
	}

	/**
	 * Returns whether the failure lasts until the settings of the application or the
	 * store are changed. Callers then fail immediately instead of waiting.
	 * @return true for example for a wrong password or a missing permission; false if the
	 * store may become available at any time
	 */
	public boolean isPermanent() {
		return this.permanent;
	}

}
