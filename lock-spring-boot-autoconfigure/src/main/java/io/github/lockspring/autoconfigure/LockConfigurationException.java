package io.github.lockspring.autoconfigure;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when an application cannot have the locks that it is configured for. Stops the
 * start, with its own report, where Spring Boot's exception for a wrong value does not
 * fit: something is missing, the value may be a secret, or it cannot be read at all.
 */
class LockConfigurationException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	static final String PREFIX = "distributed-lock.";

	private final @Nullable String property;

	private final String problem;

	private final String remedy;

	private LockConfigurationException(@Nullable String property, String problem, String remedy,
			@Nullable Throwable cause) {
		super(problem + " " + remedy, cause);
		this.property = property;
		this.problem = problem;
		this.remedy = remedy;
	}

	/**
	 * Creates an exception that is about no value of a property.
	 * @param problem what is wrong, a sentence
	 * @param remedy how to correct it, a sentence
	 */
	LockConfigurationException(String problem, String remedy, @Nullable Throwable cause) {
		this(null, problem, remedy, cause);
	}

	/**
	 * Creates an exception for a value that cannot be read.
	 * @param property the name without {@code distributed-lock.}
	 * @param value the value
	 * @param problem what is wrong with it, without a full stop
	 * @param remedy how to correct it, a sentence
	 */
	static LockConfigurationException ofValue(String property, String value, String problem, String remedy) {
		return new LockConfigurationException(PREFIX + property,
				"The property '%s%s' has the value '%s': %s.".formatted(PREFIX, property, value, problem), remedy,
				null);
	}

	/**
	 * Creates an exception for a value that is not printed.
	 * @param property the name without {@code distributed-lock.}
	 * @param problem what is wrong with it, without a full stop
	 * @param remedy how to correct it, a sentence
	 */
	static LockConfigurationException ofSecret(String property, String problem, String remedy) {
		return new LockConfigurationException(PREFIX + property,
				"The property '%s%s', whose value is not shown: %s.".formatted(PREFIX, property, problem), remedy,
				null);
	}

	/**
	 * Returns the whole name of the property, or null if it is about none.
	 */
	@Nullable String property() {
		return this.property;
	}

	String problem() {
		return this.problem;
	}

	String remedy() {
		return this.remedy;
	}

}
