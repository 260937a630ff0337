package io.github.lockspring.autoconfigure;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when an application cannot have the locks that it is configured for. Stops the
 * start, with its own report, where Spring Boot's exception for a wrong value does not
 * fit: something is missing, or the value may be a secret.
 */
class LockConfigurationException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String problem;

	private final String remedy;

	/**
	 * Creates an exception.
	 * @param problem what is wrong, a sentence
	 * @param remedy how to correct it, a sentence
	 * @param cause the underlying error, or null
	 */
	LockConfigurationException(String problem, String remedy, @Nullable Throwable cause) {
		super(problem + " " + remedy, cause);
		this.problem = problem;
		this.remedy = remedy;
	}

	String problem() {
		return this.problem;
	}

	String remedy() {
		return this.remedy;
	}

}
