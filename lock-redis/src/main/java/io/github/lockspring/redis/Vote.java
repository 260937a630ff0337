package io.github.lockspring.redis;

import io.github.lockspring.LockUnavailableException;

/**
 * What a node answers when it is asked for its vote.
 */
sealed interface Vote {

	/**
	 * The node votes for the token.
	 *
	 * @param fencingToken the smallest fencing token that this node knows to be larger
	 * than all earlier ones
	 */
	record Given(String runId, long fencingToken) implements Vote {
	}

	/**
	 * Another owner has the lock.
	 *
	 * @param owner the other's value, without the number of its attempt
	 * @param remainingMillis time until its end, or a negative number
	 * @param lastFencingToken a number that no token given before exceeds
	 */
	record ForAnother(String runId, String owner, long remainingMillis, long lastFencingToken) implements Vote {
	}

	/**
	 * The node has no vote now.
	 *
	 * @param reason what follows the node's name in a message
	 */
	record None(String runId, String reason) implements Vote {
	}

	/**
	 * The node was not asked, since nobody wanted its vote any more.
	 */
	record NotAsked() implements Vote {

		@Override
		public String runId() {
			return ANONYMOUS;
		}

	}

	/** In place of a run id if the node was not asked for it. */
	String ANONYMOUS = "-";

	String runId();

	/**
	 * Reads the answer of the script.
	 * @throws LockUnavailableException if it is not one
	 */
	static Vote parse(String answer) {
		String[] words = answer.split(" ", 5);
		try {
			return switch (words[0]) {
				case "1" -> new Given(words[1], Long.parseLong(words[2]));
				case "0" -> new ForAnother(words[1], withoutAttempt(words[4]), Long.parseLong(words[2]),
						Long.parseLong(words[3]));
				case "2" -> new None(words[1],
						" restarted " + words[2] + "s ago and has no vote for another " + words[3] + "s");
				case "3" -> new None(ANONYMOUS,
						" has no vote, since it does not say when it was started: " + answer.substring(2)
								+ ". Allow the command INFO, or set durable if it loses nothing in a restart");
				default -> throw UnavailableTranslator.unexpected(answer);
			};
		}
		catch (IndexOutOfBoundsException | NumberFormatException ex) {
			LockUnavailableException unexpected = UnavailableTranslator.unexpected(answer);
			unexpected.addSuppressed(ex);
			throw unexpected;
		}
	}

	private static String withoutAttempt(String value) {
		int colon = value.lastIndexOf(':');
		boolean numbered = colon > 0 && colon < value.length() - 1
				&& value.chars().skip(colon + 1L).allMatch((digit) -> digit >= '0' && digit <= '9');
		return numbered ? value.substring(0, colon) : value;
	}

}
