package io.github.lockspring.redis.redlock;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.internal.client.RedisErrors;

/**
 * The reply of one node to a request for its vote.
 */
sealed interface Vote {

	/** In place of a run id that was not requested. */
	String UNKNOWN_RUN_ID = "-";

	String runId();

	/**
	 * The node votes for the token.
	 *
	 * @param fencingToken the smallest fencing token that this node knows to be larger
	 * than all earlier ones
	 */
	record Granted(String runId, long fencingToken) implements Vote {
	}

	/**
	 * Another owner has the lock.
	 *
	 * @param owner the other's token
	 * @param remainingMillis the time until its lease ends, negative if it never does
	 * @param lastFencingToken a number that no earlier fencing token exceeds
	 */
	record OwnedByOther(String runId, String owner, long remainingMillis, long lastFencingToken) implements Vote {
	}

	/**
	 * The node must not vote at present.
	 *
	 * @param reason why, to follow the name of the node
	 */
	record NoVote(String runId, String reason) implements Vote {
	}

	/**
	 * Parses the reply of the script.
	 * @throws LockUnavailableException if it is invalid
	 */
	static Vote parse(String reply) {
		return RedisErrors.parse(reply, 5, (words) -> switch (words[0]) {
			case "1" -> new Granted(words[1], Long.parseLong(words[2]));
			case "0" -> new OwnedByOther(words[1], withoutAttempt(words[4]), Long.parseLong(words[2]),
					Long.parseLong(words[3]));
			case "2" ->
				new NoVote(words[1], "restarted " + words[2] + "s ago and has no vote for another " + words[3] + "s");
			case "3" -> new NoVote(UNKNOWN_RUN_ID, "has no vote, since it does not report when it was started: "
					+ reply.substring(2) + ". Allow the command INFO, or set durable if it loses nothing in a restart");
			default -> throw RedisErrors.unexpected(reply);
		});
	}

	private static String withoutAttempt(String value) {
		return value.replaceFirst("(?s)(?<=.):[0-9]+\\z", "");
	}

}
