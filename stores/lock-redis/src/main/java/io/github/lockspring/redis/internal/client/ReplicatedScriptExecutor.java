package io.github.lockspring.redis.internal.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.internal.client.DedicatedConnections.PooledConnection;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Executes scripts, and accepts a reply only when enough replicas have what the script
 * wrote.
 *
 * @since 0.1
 */
public final class ReplicatedScriptExecutor implements RedisScriptExecutor {

	/*
	 * WAIT blocks its connection and counts what that connection has written, so script
	 * and WAIT use a connection of their own. They run on worker threads, so neither
	 * connecting nor a server that does not reply keeps a caller longer than its timeout.
	 * A worker whose caller has stopped waiting sends nothing more, and the driver's own
	 * timeout ends what it has begun.
	 *
	 * Acquisitions, renewals and releases have an executor each: calls that wait for a
	 * dead replica may occupy all workers of theirs. They share the connections.
	 *
	 * A connection on which a command had no reply or no acknowledgement is closed. It
	 * may lead to a replaced master that was paused and has resumed, which accepts
	 * everything but has no replicas any more.
	 */

	private static final long MIN_WAIT_MILLIS = 1;

	/** The part of the time that is reserved for the reply to WAIT. */
	private static final int RESERVED_PART = 10;

	private final EvalFallbackScriptExecutor scripts = new EvalFallbackScriptExecutor(new StringRedisTemplate());

	private final DedicatedConnections connections;

	private final RedisEndpoint endpoint;

	private final ThreadPoolExecutor workers;

	private final int replicas;

	private final Duration ackTimeout;

	private final Duration commandTimeout;

	private final Runnable suspicion;

	/**
	 * Creates an executor.
	 * @param workers run the scripts; closed with this executor
	 * @param connections at least as many as all executors that share them have workers;
	 * stay the caller's to close
	 * @param endpoint names their server in messages
	 * @param replicas the number of replicas that must have what a script wrote; may be 0
	 * @param ackTimeout the longest wait for the replicas
	 * @param commandTimeout the longest time for one call
	 * @param suspicion run when too few replicas acknowledge: the server may not be the
	 * master any more
	 */
	public ReplicatedScriptExecutor(ThreadPoolExecutor workers, DedicatedConnections connections,
			RedisEndpoint endpoint, int replicas, Duration ackTimeout, Duration commandTimeout, Runnable suspicion) {
		this.workers = workers;
		this.connections = connections;
		this.endpoint = endpoint;
		this.replicas = replicas;
		this.ackTimeout = ackTimeout;
		this.commandTimeout = commandTimeout;
		this.suspicion = suspicion;
	}

	/**
	 * {@inheritDoc}
	 * @throws TooFewReplicasException if too few replicas acknowledge it in time
	 */
	@Override
	public <T> T execute(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout,
			@Nullable AtomicInteger sends) {
		Duration limit = (timeout.compareTo(this.commandTimeout) < 0) ? timeout : this.commandTimeout;
		long end = System.nanoTime() + limit.toNanos();
		try {
			T reply = DaemonThreads.call(this.workers,
					(abandoned) -> executeOnWorker(script, keys, args, end, abandoned, sends), limit);
			this.endpoint.replied();
			return reply;
		}
		catch (RuntimeException ex) {
			throw this.endpoint.unavailable(limit, ex);
		}
	}

	private <T> T executeOnWorker(RedisScript<T> script, List<String> keys, Object[] args, long end,
			AtomicBoolean abandoned, @Nullable AtomicInteger sends) {
		for (int stale = 0;; stale++) {
			PooledConnection connection = this.connections.borrow();
			boolean usable = false;
			try {
				if (abandoned.get()) {
					throw new AbandonedException();
				}
				if (sends != null) {
					sends.incrementAndGet();
				}
				T reply = executeAndWait(connection, script, keys, args, end);
				usable = true;
				return reply;
			}
			catch (AbandonedException ex) {
				usable = true;
				throw ex;
			}
			catch (RuntimeException ex) {
				usable = this.connections.isErrorReply(ex) && !RedisErrors.isReadOnly(ex);
				if (stale == this.connections.size() || !this.connections.isStale(connection, ex)) {
					throw ex;
				}
			}
			finally {
				if (usable) {
					this.connections.returnToPool(connection);
				}
				else {
					this.connections.invalidate(connection);
				}
			}
		}
	}

	private <T> T executeAndWait(PooledConnection connection, RedisScript<T> script, List<String> keys, Object[] args,
			long end) {
		millisUntil(end);
		T reply = evaluate(connection, script, keys, args);
		if (reply == null) {
			throw RedisErrors.noReply();
		}
		if (this.replicas == 0 || !isLeaseWritten(reply)) {
			return reply;
		}
		long left = millisUntil(end);
		long millis = Math.max(MIN_WAIT_MILLIS, Math.min(this.ackTimeout.toMillis(), left - left / RESERVED_PART));
		long acknowledged = this.connections.waitForReplicas(connection, this.replicas, millis);
		if (acknowledged < this.replicas) {
			this.suspicion.run();
			throw new TooFewReplicasException(acknowledged, this.replicas, Duration.ofMillis(millis),
					(reply instanceof List<?> renewed) ? renewed : List.of());
		}
		return reply;
	}

	private static long millisUntil(long end) {
		long left = end - System.nanoTime();
		if (left <= 0) {
			throw new AbandonedException();
		}
		return TimeUnit.NANOSECONDS.toMillis(left);
	}

	/**
	 * Whether the script has acquired a lease or renewed at least one.
	 */
	private static boolean isLeaseWritten(Object reply) {
		return (reply instanceof List<?> renewed) ? renewed.contains(1L) : reply.toString().startsWith("1");
	}

	@SuppressWarnings("unchecked")
	private <T> @Nullable T evaluate(PooledConnection connection, RedisScript<T> script, List<String> keys,
			Object[] args) {
		byte[][] words = new byte[keys.size() + args.length][];
		for (int i = 0; i < words.length; i++) {
			String word = (i < keys.size()) ? keys.get(i) : (String) args[i - keys.size()];
			words[i] = word.getBytes(StandardCharsets.UTF_8);
		}
		return this.scripts.eval(connection.connection(), script, ReturnType.fromJavaType(script.getResultType()),
				keys.size(), words, (RedisSerializer<T>) RedisSerializer.string());
	}

	@Override
	public void close() {
		this.workers.shutdownNow();
	}

	/**
	 * The caller has stopped waiting. The connection is usable.
	 */
	private static final class AbandonedException extends QueryTimeoutException {

		private static final long serialVersionUID = 1L;

		AbandonedException() {
			super("No reply from Redis in time");
		}

	}

	/**
	 * The master has executed the script, but too few replicas have acknowledged it.
	 */
	public static final class TooFewReplicasException extends LockUnavailableException {

		private static final long serialVersionUID = 1L;

		private final transient List<?> reply;

		TooFewReplicasException(long acknowledged, int required, Duration wait, List<?> reply) {
			super("%d of %d replicas acknowledged the lock within %s".formatted(acknowledged, required,
					RedisErrors.format(wait)));
			this.reply = reply;
		}

		/**
		 * Returns the master's reply to a renewal.
		 * @return one number for each lease; empty for other scripts
		 */
		public List<Object> reply() {
			return List.copyOf(this.reply);
		}

	}

}
