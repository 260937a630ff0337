package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.Voter.Reply;

/**
 * What was heard of each node in a round, to be told if the round fails. For one thread.
 */
final class Hearing {

	private static final String FINE = "";

	private final List<Voter> voters;

	private final Map<Voter, String> heard = new HashMap<>();

	private final List<Throwable> failures = new ArrayList<>();

	Hearing(List<Voter> voters) {
		this.voters = voters;
	}

	void fine(Voter voter) {
		this.heard.put(voter, FINE);
	}

	/**
	 * Takes note of a problem.
	 * @param problem begins with the node's name
	 */
	void problem(Voter voter, String problem) {
		this.heard.put(voter, problem);
	}

	void failed(Reply.Failed<?> failed) {
		problem(failed.voter(), failed.problem());
		this.failures.add(failed.failure());
	}

	/**
	 * Puts all into a message, node by node.
	 * @param timeout how long those that were not heard of had to answer
	 */
	LockUnavailableException unavailable(String summary, Duration timeout) {
		StringBuilder message = new StringBuilder(summary);
		String separator = ": ";
		for (Voter voter : this.voters) {
			String problem = this.heard.getOrDefault(voter,
					voter + " did not answer within " + UnavailableTranslator.format(timeout));
			if (!problem.equals(FINE)) {
				message.append(separator).append(problem);
				separator = "; ";
			}
		}
		LockUnavailableException unavailable = new LockUnavailableException(message.toString());
		this.failures.forEach(unavailable::addSuppressed);
		return unavailable;
	}

}
