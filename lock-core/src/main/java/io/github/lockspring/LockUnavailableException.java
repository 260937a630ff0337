package io.github.lockspring;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the store could not be reached or returned no usable result. It is unknown
 * whether the lock is free. The work did not run. The cause says which server failed, and
 * why.
 *
 * @since 0.1
 */
public class LockUnavailableException extends LockException {

	private static final long serialVersionUID = 1L;

	private final @Nullable String remedy;

	private final boolean permanent;

	/**
	 * Creates an exception about a store.
	 * @param message what is unavailable, and why
	 */
	public LockUnavailableException(String message) {
		this(message, null);
	}

	/**
	 * Creates an exception about a store.
	 * @param message what is unavailable, and why
	 * @param cause the cause, or null
	 */
	public LockUnavailableException(String message, @Nullable Throwable cause) {
		this(message, cause, false);
	}

	/**
	 * Creates an exception about a store.
	 * @param message what is unavailable, and why
	 * @param cause the cause, or null
	 * @param permanent whether no wait will mend it, such as a wrong password
	 */
	public LockUnavailableException(String message, @Nullable Throwable cause, boolean permanent) {
		this(message, null, cause, permanent);
	}

	/**
	 * Creates an exception about a store, whose message ends with the remedy.
	 * @param problem what is unavailable, and why, without a full stop
	 * @param remedy what to do, without hosts and the like, or null; a sentence without
	 * its full stop
	 * @param cause the cause, or null
	 * @param permanent whether no wait will mend it
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
	 * @param message what could not be done
	 * @param cause what the store said
	 */
	public LockUnavailableException(String key, String message, LockUnavailableException cause) {
		super(key, message, cause);
		this.remedy = cause.getRemedy();
		this.permanent = cause.permanent;
	}

	/**
	 * Returns what to do, without hosts and the like.
	 * @return a sentence without its full stop; null if it is not known
	 */
	public @Nullable String getRemedy() {
		if (this.remedy == null && getCause() instanceof LockUnavailableException cause) {
			return cause.getRemedy();
		}
		return this.remedy;
	}

	/**
	 * Returns whether no wait will mend the failure: the settings of the application or
	 * of the store have to be changed first. A call does not use up its wait time then.
	 * @return true for a wrong password, a missing permission and the like; false if the
	 * store may become available at any time
	 */
	public boolean isPermanent() {
		return this.permanent;
	}

}
