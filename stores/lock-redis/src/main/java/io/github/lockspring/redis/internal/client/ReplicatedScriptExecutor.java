package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.internal.client.DedicatedConnections.PooledConnection;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Executes scripts, and accepts a reply only when enough replicas have what the script
 * wrote.
 *
 * @since 0.1
 */
/*
 * For maintainers: WAIT blocks its connection and counts what that connection has
 * written, so script and WAIT use a connection of their own. They run on worker threads.
 * A worker sends nothing after the timeout, and the driver's own timeout ends what it has
 * begun.
 *
 * Acquisitions, renewals and releases have an executor each: calls that wait for a dead
 * replica may occupy all workers of theirs. They share the connections.
 *
 * A connection on which a command had no reply or no acknowledgement is closed. It may
 * lead to a replaced master that was paused and has resumed, which accepts everything but
 * has no replicas any more.
 */
public final class ReplicatedScriptExecutor implements RedisScriptExecutor {

	private static final long MIN_WAIT_MILLIS = 1;

	/** The part of the time that is reserved for the reply to WAIT. */
	private static final int RESERVED_PART = 10;

	private final ScriptSender scripts = new ScriptSender();

	private final DedicatedConnections connections;

	private final ThreadPoolExecutor workers;

	private final int replicas;

	private final Duration ackTimeout;

	private final Duration commandTimeout;

	/**
	 * Creates an executor.
	 * @param workers run the scripts; closed with this executor
	 * @param connections at least as many as all executors that share them have workers;
	 * stay the caller's to close
	 * @param replicas the number of replicas that must have what a script wrote; may be 0
	 * @param ackTimeout the longest wait for the replicas
	 * @param commandTimeout the longest time for one call
	 */
	public ReplicatedScriptExecutor(ThreadPoolExecutor workers, DedicatedConnections connections, int replicas,
			Duration ackTimeout, Duration commandTimeout) {
		this.workers = workers;
		this.connections = connections;
		this.replicas = replicas;
		this.ackTimeout = ackTimeout;
		this.commandTimeout = commandTimeout;
	}

	@Override
	public <T> CompletionStage<T> execute(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		Duration limit = RedisConnections.shorter(timeout, this.commandTimeout);
		long end = System.nanoTime() + limit.toNanos();
		CompletableFuture<T> result;
		try {
			result = CompletableFuture.supplyAsync(() -> executeOnWorker(script, keys, args, end), this.workers);
		}
		catch (RejectedExecutionException | Error ex) {
			// an error: no thread at present
			result = CompletableFuture.failedFuture(new LockUnavailableException(
					this.workers.isShutdown() ? "The lock store is closed" : "Too many requests wait for replicas",
					ex));
		}
		return result.handle((reply, failure) -> this.connections.usable(reply, failure, limit));
	}

	private <T> T executeOnWorker(RedisScript<T> script, List<String> keys, Object[] args, long end) {
		checkTime(end);
		PooledConnection connection = this.connections.borrow();
		try {
			// connecting may have taken too long
			checkTime(end);
			T reply = executeAndWait(connection, script, keys, args, end);
			this.connections.returnToPool(connection);
			return reply;
		}
		catch (RuntimeException | Error ex) {
			if (ex instanceof TooLateException || ConnectionHealth.isUsableAfter(ex)) {
				this.connections.returnToPool(connection);
			}
			else {
				this.connections.invalidate(connection);
			}
			throw ex;
		}
	}

	private static void checkTime(long end) {
		if (end - System.nanoTime() <= 0) {
			throw new TooLateException();
		}
	}

	private <T> T executeAndWait(PooledConnection connection, RedisScript<T> script, List<String> keys, Object[] args,
			long end) {
		T reply = this.scripts.evaluate(connection.connection(), script, keys, args);
		if (this.replicas == 0 || !isLeaseWritten(reply)) {
			return reply;
		}
		long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
		long millis = Math.max(MIN_WAIT_MILLIS, Math.min(this.ackTimeout.toMillis(), left - left / RESERVED_PART));
		long acknowledged = this.connections.waitForReplicas(connection, this.replicas, millis);
		if (acknowledged < this.replicas) {
			throw new LockUnavailableException("%d of %d replicas acknowledged the lock within %s"
				.formatted(acknowledged, this.replicas, RedisErrors.format(Duration.ofMillis(millis))));
		}
		return reply;
	}

	/**
	 * Whether the script has acquired a lease or renewed at least one.
	 */
	private static boolean isLeaseWritten(Object reply) {
		return (reply instanceof List<?> renewed) ? renewed.contains(1L) : reply.toString().startsWith("1");
	}

	@Override
	public void close() {
		this.workers.shutdownNow();
	}

	/**
	 * Nothing was sent, since nobody waits any more.
	 */
	private static final class TooLateException extends QueryTimeoutException {

		private static final long serialVersionUID = 1L;

		TooLateException() {
			super("No reply from Redis in time");
		}

	}

}
