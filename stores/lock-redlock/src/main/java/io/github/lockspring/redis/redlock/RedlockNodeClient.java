package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.internal.base.LogThread;
import io.github.lockspring.redis.internal.RedisServerCheck;
import io.github.lockspring.redis.internal.client.DaemonThreads;
import io.github.lockspring.redis.internal.client.RedisConnections;
import io.github.lockspring.redis.internal.client.RedisEndpoint;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.store.StoreHealth.Server;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * The client of one Redlock node. Carries out requests for the same key in the order in
 * which they were sent, and completes each of them within its timeout.
 */
/*
 * For maintainers: Lettuce sends everything on one connection. A driver that blocks its
 * caller has threads, each with requests for other keys, and so do the few commands other
 * than scripts. The threads are those of the node: one that does not reply keeps no other
 * waiting. They are created on demand, and their queues are short: a request that does
 * not fit is not sent, nor one whose time is over before its turn.
 *
 * `runId` and `unavailable` are hints that any thread sets.
 */
final class RedlockNodeClient {

	private static final Logger logger = LoggerFactory.getLogger(RedlockNodeClient.class);

	static final int THREADS = 4;

	static final int MAX_QUEUE = 1000;

	private static final String TOO_MANY_REQUESTS = "too many requests wait for it";

	private final String name;

	private final RedisConnections connections;

	private final List<ThreadPoolExecutor> threads;

	private volatile @Nullable String runId;

	private volatile boolean closed;

	private final AtomicBoolean unavailable = new AtomicBoolean();

	RedlockNodeClient(String name, RedisConnections connections) {
		this.name = name;
		this.connections = connections;
		this.threads = IntStream.rangeClosed(1, THREADS)
			.mapToObj((number) -> DaemonThreads.onDemand("lock-redlock-" + name + "-" + number, 1, MAX_QUEUE))
			.toList();
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
	 * Sends a script.
	 * @return completes within the timeout, exceptionally without a usable reply
	 */
	<T> CompletableFuture<T> execute(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		if (!this.connections.isBlocking()) {
			return timed(this.connections.execute(script, keys, args, timeout), timeout);
		}
		return call(keys.get(0),
				() -> this.connections.execute(script, keys, args, timeout).toCompletableFuture().join(), timeout);
	}

	/**
	 * Sends a command other than a script.
	 * @return completes within the timeout, exceptionally without a usable reply
	 */
	<T> CompletableFuture<T> run(Function<StringRedisTemplate, T> command, Duration timeout) {
		return call("", () -> this.connections.run(command), timeout);
	}

	/**
	 * Checks what matters to locks on the server.
	 */
	CompletableFuture<Server> check(Duration timeout) {
		return call("", () -> new RedisServerCheck(this.connections, 0).check(this.name), timeout);
	}

	private <R> CompletableFuture<R> call(String key, Supplier<R> request, Duration timeout) {
		CompletableFuture<R> reply;
		try {
			// not called once it has timed out
			reply = CompletableFuture.supplyAsync(request, this.threads.get(Math.floorMod(key.hashCode(), THREADS)));
		}
		catch (RuntimeException | Error ex) {
			// an error too: a machine may be out of threads for a moment
			reply = CompletableFuture.failedFuture(ex);
		}
		return timed(reply, timeout);
	}

	private <R> CompletableFuture<R> timed(CompletionStage<R> reply, Duration timeout) {
		return reply.toCompletableFuture()
			.orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS)
			.handle((result, failure) -> {
				if (failure != null) {
					throw unavailable(failure, timeout);
				}
				return result;
			});
	}

	private LockUnavailableException unavailable(Throwable failure, Duration timeout) {
		if (failure instanceof TimeoutException) {
			return new LockUnavailableException("did not reply within " + RedisErrors.format(timeout), failure);
		}
		if (failure instanceof RejectedExecutionException) {
			return new LockUnavailableException(this.closed ? "the lock store is closed" : TOO_MANY_REQUESTS, failure);
		}
		return Stages.unavailable(failure);
	}

	/**
	 * Returns why a request failed, to follow the name of this node.
	 */
	String problem(LockUnavailableException failure) {
		String message = String.valueOf(failure.getMessage());
		String server = "Redis" + this.connections.endpoint();
		return message.startsWith(server) ? message.substring(server.length()).replaceFirst("^:? ", "") : message;
	}

	/**
	 * Logs when the node becomes unavailable or available; not that its own queue here is
	 * full, which is a matter of load, or of timeouts that are logged. Nothing else would
	 * show it, as long as a majority of the nodes is available.
	 * @param problem why it is unavailable, or null if it is available
	 */
	void logAvailability(@Nullable String problem) {
		if (this.closed || TOO_MANY_REQUESTS.equals(problem)) {
			return;
		}
		boolean unavailable = problem != null;
		if (this.unavailable.getAndSet(unavailable) == unavailable) {
			return;
		}
		if (unavailable) {
			LogThread.execute(() -> logger
				.warn("Redlock node {} is unavailable ({}); locks depend on the remaining nodes", this, problem));
		}
		else {
			LogThread.execute(() -> logger.info("Redlock node {} is available again", this));
		}
	}

	/**
	 * Accepts no more requests.
	 */
	void shutdown() {
		this.closed = true;
		this.threads.forEach(ThreadPoolExecutor::shutdown);
	}

	/**
	 * Closes the connections after the accepted requests, or at a time.
	 * @param end the time, as of {@link System#nanoTime()}
	 */
	void close(long end) {
		for (ThreadPoolExecutor thread : this.threads) {
			try {
				thread.awaitTermination(end - System.nanoTime(), TimeUnit.NANOSECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			thread.shutdownNow();
		}
		this.connections.close();
	}

	/**
	 * Returns its name, and how requests log in there.
	 */
	@Override
	public String toString() {
		String details = this.connections.endpoint().details();
		return details.equals(RedisEndpoint.DEFAULT_DETAILS) ? this.name : this.name + " (" + details + ")";
	}

}
