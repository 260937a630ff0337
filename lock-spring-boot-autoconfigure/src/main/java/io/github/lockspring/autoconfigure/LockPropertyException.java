package io.github.lockspring.autoconfigure;

/**
 * A property has a value that makes no sense. Stops the application's start.
 */
class LockPropertyException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String property;

	private final String value;

	private final String problem;

	private final String remedy;

	/**
	 * Creates the exception.
	 * @param name the property's name below {@code distributed-lock}
	 * @param value its value
	 * @param problem what is wrong with it, without a full stop
	 * @param remedy what to do about it, a sentence
	 */
	LockPropertyException(String name, String value, String problem, String remedy) {
		super("%s.%s = %s: %s. %s".formatted(DistributedLockProperties.PREFIX, name, value, problem, remedy));
		this.property = DistributedLockProperties.PREFIX + "." + name;
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
