package io.github.lockspring.redis.redlock;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The nodes of a lock store, and how many of them decide.
 *
 * @param nodes the nodes; an odd number
 */
record Quorum(List<RedlockNodeClient> nodes) {

	Quorum {
		nodes = List.copyOf(nodes);
	}

	int size() {
		return this.nodes.size();
	}

	int majority() {
		return size() / 2 + 1;
	}

	/**
	 * Whether so many nodes are a majority.
	 */
	boolean isReached(int nodes) {
		return nodes >= majority();
	}

	/**
	 * Whether no majority is possible without so many nodes.
	 */
	boolean isBlocked(int nodes) {
		return nodes > size() - majority();
	}

	/**
	 * Sends a request to all nodes at once.
	 * @param request sends it to one node; the stage must complete in any case
	 * @param decided whether the replies so far are enough
	 * @return completes with the replies so far, as soon as they are enough or all have
	 * arrived; never fails
	 */
	<R> CompletableFuture<Replies<R>> ask(Function<RedlockNodeClient, ? extends CompletionStage<R>> request,
			Predicate<Replies<R>> decided) {
		AtomicReference<Replies<R>> replies = new AtomicReference<>(new Replies<>(this.nodes));
		CompletableFuture<Replies<R>> result = new CompletableFuture<>();
		for (RedlockNodeClient node : this.nodes) {
			request.apply(node).whenComplete((reply, failure) -> {
				Replies<R> present = replies.updateAndGet((before) -> before.with(node, reply, failure));
				if (present.isComplete() || decided.test(present)) {
					result.complete(present);
				}
			});
		}
		return result;
	}

	/**
	 * Returns why the votes of a node do not count, or null if they do.
	 */
	@Nullable String duplicate(RedlockNodeClient node) {
		String runId = node.runId();
		for (RedlockNodeClient other : this.nodes) {
			if (other != node && runId != null && runId.equals(other.runId())) {
				return "is the same server as " + other + ", which must not vote twice";
			}
		}
		return null;
	}

}
