package io.github.lockspring.redis.redlock;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import org.jspecify.annotations.Nullable;

/**
 * The replies of the nodes to one request, so far. Immutable.
 *
 * @param nodes all nodes
 * @param received the replies
 * @param failures why other nodes did not reply
 */
record Replies<R>(List<RedlockNodeClient> nodes, Map<RedlockNodeClient, R> received,
		Map<RedlockNodeClient, LockUnavailableException> failures) {

	Replies(List<RedlockNodeClient> nodes) {
		this(nodes, Map.of(), Map.of());
	}

	/**
	 * Returns these replies with that of one more node.
	 */
	Replies<R> with(RedlockNodeClient node, @Nullable R reply, @Nullable Throwable failure) {
		return (reply != null) ? new Replies<>(this.nodes, with(this.received, node, reply), this.failures)
				: new Replies<>(this.nodes, this.received, with(this.failures, node, (failure != null)
						? Stages.unavailable(failure) : new LockUnavailableException("returned no reply")));
	}

	private static <V> Map<RedlockNodeClient, V> with(Map<RedlockNodeClient, V> map, RedlockNodeClient node, V value) {
		Map<RedlockNodeClient, V> more = new HashMap<>(map);
		more.put(node, value);
		return more;
	}

	/**
	 * Whether each node has replied or failed.
	 */
	boolean isComplete() {
		return this.received.size() + this.failures.size() == this.nodes.size();
	}

	int count(Predicate<? super R> condition) {
		return (int) this.received.values().stream().filter(condition).count();
	}

	/**
	 * Returns the replies of one kind.
	 */
	<T> Stream<T> all(Class<T> type) {
		return this.received.values().stream().filter(type::isInstance).map(type::cast);
	}

	/**
	 * Describes why a majority is missing.
	 * @param summary precedes the problems of the nodes
	 * @param problem returns why a reply does not help, to follow the name of its node,
	 * or null if it does
	 */
	LockUnavailableException unavailable(String summary, Function<? super R, @Nullable String> problem) {
		List<String> problems = new ArrayList<>();
		for (RedlockNodeClient node : this.nodes) {
			R reply = this.received.get(node);
			LockUnavailableException failure = this.failures.get(node);
			String text = (failure != null) ? node.problem(failure) : (reply != null) ? problem.apply(reply) : null;
			if (text != null) {
				problems.add(node + ": " + text);
			}
		}
		String details = problems.isEmpty() ? "" : ": " + String.join("; ", problems);
		// with half of the nodes there is no majority
		long permanent = this.failures.values().stream().filter(LockUnavailableException::isPermanent).count();
		LockUnavailableException unavailable = new LockUnavailableException(summary + details, null,
				2 * permanent >= this.nodes.size());
		this.failures.values().forEach(unavailable::addSuppressed);
		return unavailable;
	}

}
