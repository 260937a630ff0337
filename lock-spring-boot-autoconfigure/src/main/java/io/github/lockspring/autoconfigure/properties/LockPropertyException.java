package io.github.lockspring.autoconfigure.properties;

/**
 * Thrown when a property has an invalid value. Stops the start of the application.
 *
 * @since 0.1
 */
public class LockPropertyException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private static final String PREFIX = "distributed-lock.";

	private final String property;

	private final String value;

	private final String problem;

	private final String remedy;

	/**
	 * Creates the exception.
	 * @param name the name of the property without {@code distributed-lock.}
	 * @param value the value, without passwords
	 * @param problem what is wrong with the value, without a full stop
	 * @param remedy how to correct it, a sentence
	 */
	public LockPropertyException(String name, String value, String problem, String remedy) {
		super("%s%s = %s: %s. %s".formatted(PREFIX, name, value, problem, remedy));
		this.property = PREFIX + name;
		this.value = value;
		this.problem = problem;
		this.remedy = remedy;
	}

	String getProperty() {
		return this.property;
	}

	String getValue() {
		return this.value;
	}

	String getProblem() {
		return this.problem;
	}

	String getRemedy() {
		return this.remedy;
	}

}
