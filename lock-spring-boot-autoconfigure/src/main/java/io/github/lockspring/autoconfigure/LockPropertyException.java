package io.github.lockspring.autoconfigure;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a property has an invalid value. Stops the start of the application.
 */
class LockPropertyException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/** In the place of a value that may be a password. */
	static final String SECRET = "(not shown)";

	private static final String PREFIX = "distributed-lock.";

	private final transient Details details;

	/**
	 * Creates the exception.
	 * @param name the name of the property without {@code distributed-lock.}
	 * @param value the value, without passwords; null if there is no such property
	 * @param problem what is wrong with the value, without a full stop
	 * @param remedy how to correct it, a sentence
	 */
	public LockPropertyException(String name, @Nullable String value, String problem, String remedy) {
		super("%s%s%s: %s. %s".formatted(PREFIX, name, (value != null) ? " = " + value : "", problem, remedy));
		this.details = new Details(PREFIX + name, value, problem, remedy);
	}

	Details details() {
		return this.details;
	}

	/** The parts of the message. */
	record Details(String property, @Nullable String value, String problem, String remedy) {
	}

}
