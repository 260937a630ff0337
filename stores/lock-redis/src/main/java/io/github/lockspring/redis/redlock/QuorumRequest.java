package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.redis.redlock.RedlockNodeClient.NodeResult;
import org.jspecify.annotations.Nullable;

/**
 * A request that is sent to several nodes at once, and what its sender records of their
 * results.
 */
final class QuorumRequest<R> {

	/*
	 * The thread that sends the request reads results until it knows enough, or until the
	 * time is over, and closes the request. Results arrive on the threads of their nodes.
	 * `lock` decides for each of them whether it arrived before the request was closed,
	 * and then the sender reads it, or afterwards, and then `late` receives it, on the
	 * node's thread. So exactly one of the two sees each result. What the sender does
	 * before it closes the request is visible to `late`.
	 *
	 * Tasks that are still in the queue of a node when the request is closed are
	 * cancelled, unless the request is left open to them (a release must reach all
	 * nodes).
	 */

	private final LinkedBlockingQueue<NodeResult<R>> results = new LinkedBlockingQueue<>();

	private final List<RedlockNodeClient> nodes;

	private final Consumer<NodeResult<R>> late;

	private final ReentrantLock lock = new ReentrantLock();

	private boolean closed;

	private final Map<RedlockNodeClient, Runnable> tasks = new IdentityHashMap<>();

	private final long start = System.nanoTime();

	private final long limit;

	private int outstanding;

	/** Why nodes failed or rejected the request; null if one accepted it. */
	private final Map<RedlockNodeClient, @Nullable String> problems = new HashMap<>();

	private final List<LockUnavailableException> failures = new ArrayList<>();

	private int accepted;

	private int rejected;

	/**
	 * Sends a request.
	 * @param nodes the nodes
	 * @param request executed for each node; is given its timeout
	 * @param timeout the timeout of a node
	 * @param firstTimeout the timeout of a node that has never replied
	 * @param late receives results that arrive after the request was closed
	 */
	QuorumRequest(List<RedlockNodeClient> nodes, BiFunction<RedlockNodeClient, Duration, R> request, Duration timeout,
			Duration firstTimeout, Consumer<NodeResult<R>> late) {
		this.nodes = List.copyOf(nodes);
		this.late = late;
		this.limit = (this.nodes.stream().allMatch(RedlockNodeClient::hasReplied) ? timeout : firstTimeout).toNanos();
		this.outstanding = this.nodes.size();
		for (RedlockNodeClient node : this.nodes) {
			Runnable task = node.send(request, node.hasReplied() ? timeout : firstTimeout, this::completed);
			this.tasks.put(node, task);
		}
	}

	private void completed(NodeResult<R> result) {
		this.lock.lock();
		try {
			if (!this.closed) {
				this.results.add(result);
				return;
			}
		}
		finally {
			this.lock.unlock();
		}
		this.late.accept(result);
	}

	/**
	 * Reads results until enough are known, all have been read, or the time is over.
	 */
	void readUntil(BooleanSupplier decided, Consumer<NodeResult<R>> consumer) throws InterruptedException {
		while (!decided.getAsBoolean() && this.outstanding > 0) {
			NodeResult<R> result = this.results.poll(this.limit - (System.nanoTime() - this.start),
					TimeUnit.NANOSECONDS);
			if (result == null) {
				return;
			}
			this.outstanding--;
			this.tasks.remove(result.node());
			consumer.accept(result);
		}
	}

	/**
	 * Closes the request and cancels what has not been sent.
	 * @return the results that arrived in time and were not read
	 */
	List<NodeResult<R>> close() {
		cancelQueued();
		return leave();
	}

	/**
	 * Cancels what has not been sent. Not for two threads at once.
	 */
	void cancelQueued() {
		this.tasks.forEach((node, task) -> {
			if (node.cancel(task)) {
				this.outstanding--;
			}
		});
	}

	/**
	 * Closes the request, but still sends it to all nodes.
	 * @return the results that arrived in time and were not read
	 */
	List<NodeResult<R>> leave() {
		List<NodeResult<R>> unread = new ArrayList<>();
		this.lock.lock();
		try {
			this.closed = true;
			this.results.drainTo(unread);
		}
		finally {
			this.lock.unlock();
		}
		this.outstanding -= unread.size();
		return unread;
	}

	/**
	 * Returns how many results may still arrive; once closed, those that {@code late}
	 * will receive.
	 */
	int outstanding() {
		return this.outstanding;
	}

	/**
	 * Records that a node accepted the request.
	 */
	void accept(RedlockNodeClient node) {
		this.problems.put(node, null);
		this.accepted++;
	}

	/**
	 * Records that a node rejected the request.
	 * @param problem why, to follow the name of the node
	 */
	void reject(RedlockNodeClient node, String problem) {
		this.problems.put(node, problem);
		this.rejected++;
	}

	/**
	 * Records that the request to a node failed.
	 */
	void fail(NodeResult.Failure<?> failure) {
		this.problems.put(failure.node(), failure.problem());
		this.failures.add(failure.cause());
	}

	int accepted() {
		return this.accepted;
	}

	int rejected() {
		return this.rejected;
	}

	int failed() {
		return this.failures.size();
	}

	/**
	 * Describes what was recorded of each node, and which of them did not reply in time.
	 */
	LockUnavailableException unavailable(String summary) {
		String noReply = "did not reply within " + RedisErrors.format(Duration.ofNanos(this.limit));
		List<String> problems = new ArrayList<>();
		for (RedlockNodeClient node : this.nodes) {
			String problem = this.problems.containsKey(node) ? this.problems.get(node) : noReply;
			if (problem != null) {
				problems.add(node + ": " + problem);
			}
		}
		String details = problems.isEmpty() ? "" : ": " + String.join("; ", problems);
		// with half of the nodes there is no majority
		long permanent = this.failures.stream().filter(LockUnavailableException::isPermanent).count();
		LockUnavailableException unavailable = new LockUnavailableException(summary + details, null,
				2 * permanent >= this.nodes.size());
		this.failures.forEach(unavailable::addSuppressed);
		return unavailable;
	}

}
