package io.github.lockspring.internal.base;

import java.time.Duration;

/**
 * Thrown if an option of a lock is out of its bounds, or contradicts another one.
 *
 * @since 0.1
 */
public final class LockOptionException extends IllegalArgumentException {

	private static final long serialVersionUID = 1L;

	private final String option;

	private final String problem;

	private final String remedy;

	LockOptionException(String option, Duration value, String problem, String remedy) {
		// the message is that of a program, the remedy that of an annotation
		super(option + " = " + value + ": " + problem + ". " + remedy.replace("renew = false", "renew(false)"));
		this.option = option;
		this.problem = problem;
		this.remedy = remedy;
	}

	/**
	 * Returns the option.
	 * @return its name
	 */
	public String getOption() {
		return this.option;
	}

	/**
	 * Returns what is wrong with its value.
	 * @return a clause without a full stop
	 */
	public String getProblem() {
		return this.problem;
	}

	/**
	 * Returns what to do about it, in the words of an annotation.
	 * @return a sentence without its full stop
	 */
	public String getRemedy() {
		return this.remedy;
	}

}
