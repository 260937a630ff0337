package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.internal.RedisServerCheck;
import io.github.lockspring.redis.internal.client.DaemonThreads;
import io.github.lockspring.redis.internal.client.RedisCommands;
import io.github.lockspring.redis.internal.client.RedisConnections;
import io.github.lockspring.redis.internal.client.RedisEndpoint;
import io.github.lockspring.store.StoreHealth.Server;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * The client of one Redlock node: its connections, the threads that send requests to it,
 * and what is known about it.
 */
final class RedlockNodeClient {

	/*
	 * Drivers block their caller, and requests go to several nodes at once, so each node
	 * has its own threads: a node that does not reply keeps only its own threads busy.
	 * There are few of them, created on demand, and their queue is short: a request that
	 * does not fit is not sent, which counts as no reply. A request that is cancelled
	 * leaves the queue.
	 *
	 * `replied`, `runId` and `outage` are hints that any thread sets.
	 */

	private static final Logger logger = LoggerFactory.getLogger(RedlockNodeClient.class);

	static final int THREADS = 4;

	static final int MAX_QUEUE = 1000;

	private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

	private final String name;

	private final RedisEndpoint endpoint;

	private final RedisConnections connections;

	private final RedisCommands commands;

	private final ThreadPoolExecutor threads;

	private volatile boolean replied;

	private volatile @Nullable String runId;

	private final AtomicReference<@Nullable Outage> outage = new AtomicReference<>();

	RedlockNodeClient(String name, RedisConnections connections, RedisEndpoint endpoint, Duration commandTimeout) {
		this.name = name;
		this.endpoint = endpoint;
		this.connections = connections;
		this.commands = new RedisCommands(connections, endpoint, commandTimeout);
		this.threads = DaemonThreads.onDemand("lock-redlock-" + name, THREADS, MAX_QUEUE);
	}

	/**
	 * Whether it has ever replied. Until then, requests need time for connecting.
	 */
	boolean hasReplied() {
		return this.replied;
	}

	/**
	 * Returns the run id that the server reported last, or null.
	 */
	@Nullable String runId() {
		return this.runId;
	}

	void runId(@Nullable String runId) {
		this.runId = runId;
	}

	/**
	 * Executes a request on the calling thread, as the first one, which may take longer
	 * because it connects.
	 */
	void connect(BiFunction<RedlockNodeClient, Duration, ?> request, Duration timeout) {
		request.apply(this, timeout);
		this.replied = true;
	}

	/**
	 * Sends a request on one of this node's threads. The consumer is given its result or
	 * failure: on that thread, or on the caller's if there is none.
	 * @return the task, for {@link #cancel}
	 */
	<R> Runnable send(BiFunction<RedlockNodeClient, Duration, R> request, Duration timeout,
			Consumer<NodeResult<R>> consumer) {
		Runnable task = () -> consumer.accept(execute(request, timeout));
		try {
			this.threads.execute(task);
		}
		catch (RuntimeException | Error ex) {
			// an error too: a machine may be out of threads for a moment
			consumer.accept(new NodeResult.Failure<>(this, unavailable(ex)));
		}
		return task;
	}

	private <R> NodeResult<R> execute(BiFunction<RedlockNodeClient, Duration, R> request, Duration timeout) {
		try {
			R result = request.apply(this, timeout);
			this.replied = true;
			return new NodeResult.Success<>(this, result);
		}
		catch (RuntimeException | Error ex) {
			return new NodeResult.Failure<>(this, unavailable(ex));
		}
	}

	private LockUnavailableException unavailable(Throwable failure) {
		if (failure instanceof LockUnavailableException unavailable) {
			return unavailable;
		}
		String reason = String.valueOf(failure);
		if (failure instanceof RejectedExecutionException) {
			reason = this.threads.isShutdown() ? "the lock store is closed" : "too many requests wait for it";
		}
		return new LockUnavailableException(reason, failure);
	}

	/**
	 * Cancels a task that has not begun.
	 * @return false if it had begun
	 */
	boolean cancel(Runnable task) {
		return this.threads.remove(task);
	}

	/**
	 * Executes a script on the calling thread.
	 */
	<T> T execute(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		return this.commands.execute(script, keys, args, timeout);
	}

	/**
	 * Executes a script on the calling thread and counts how often it is sent.
	 */
	<T> T execute(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout, AtomicInteger sends) {
		return this.commands.execute(script, keys, args, timeout, sends);
	}

	/**
	 * Executes a command on the calling thread.
	 */
	<T> T run(String key, Function<StringRedisTemplate, T> command, Duration timeout) {
		return this.commands.run(key, command, timeout);
	}

	/**
	 * Asks the server, on the calling thread, what matters to locks.
	 */
	Server check(Duration timeout) {
		return new RedisServerCheck(this.commands, 0).check(this.name, timeout);
	}

	/**
	 * Logs when the node becomes unavailable or available. Nothing else would show it, as
	 * long as a majority of the nodes is available.
	 * @param problem why it is unavailable, or null if it is available
	 */
	void logAvailability(@Nullable String problem) {
		if (this.threads.isShutdown()) {
			return;
		}
		Outage before = this.outage.get();
		if (problem == null) {
			if (before != null && this.outage.compareAndSet(before, null)) {
				logger.info("Redlock node {} is available again", this);
			}
			return;
		}
		long now = System.nanoTime();
		if ((before == null || now - before.logged > LOG_INTERVAL_NANOS)
				&& this.outage.compareAndSet(before, new Outage(now))) {
			logger.warn("Redlock node {} is unavailable ({}); locks depend on the remaining nodes", this, problem);
		}
	}

	/**
	 * Accepts no more requests.
	 */
	void shutdown() {
		this.threads.shutdown();
	}

	/**
	 * Closes the connections after the accepted requests, or after the timeout.
	 */
	void close(Duration timeout) {
		try {
			this.threads.awaitTermination(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.threads.shutdownNow();
		this.connections.close();
	}

	/**
	 * Returns its name, and how requests log in there.
	 */
	@Override
	public String toString() {
		String details = this.endpoint.details();
		return details.equals(RedisEndpoint.DEFAULT_DETAILS) ? this.name : this.name + " (" + details + ")";
	}

	private record Outage(long logged) {
	}

	/**
	 * The result or the failure of a request to one node.
	 */
	sealed interface NodeResult<R> {

		RedlockNodeClient node();

		record Success<R>(RedlockNodeClient node, R result) implements NodeResult<R> {
		}

		record Failure<R>(RedlockNodeClient node, LockUnavailableException cause) implements NodeResult<R> {

			/**
			 * Returns why the request failed, to follow the name of the node.
			 */
			String problem() {
				String message = String.valueOf(this.cause.getMessage());
				String server = "Redis" + this.node.endpoint;
				return message.startsWith(server) ? message.substring(server.length()).replaceFirst("^:? ", "")
						: message;
			}

		}

	}

}
