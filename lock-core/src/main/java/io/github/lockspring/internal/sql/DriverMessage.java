package io.github.lockspring.internal.sql;

import org.springframework.core.NestedExceptionUtils;

/**
 * Extracts a driver's own description of an error.
 *
 * @since 0.1
 */
public final class DriverMessage {

	/** H2 appends the statement after this. */
	private static final String STATEMENT = "; SQL statement:";

	private DriverMessage() {
	}

	/**
	 * Returns the reason of a failure without the statement, which some drivers append:
	 * messages may be shown to users, and the stack trace in the log has it.
	 * @param failure the failure
	 * @return the first line of the message of its root cause
	 */
	public static String of(Throwable failure) {
		String message = String.valueOf(NestedExceptionUtils.getMostSpecificCause(failure).getMessage());
		String line = message.lines().findFirst().orElse("");
		int end = line.indexOf(STATEMENT);
		return (end >= 0) ? line.substring(0, end) : line;
	}

}
