package io.github.lockspring.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Runs scripts, and takes the answer for good only when enough replicas have what the
 * script wrote.
 */
final class AcknowledgedCommands implements ScriptRunner {

	/*
	 * WAIT blocks its connection, and counts what that connection has written, so that
	 * script and WAIT have a connection for themselves meanwhile. They run on worker
	 * threads, so that neither connecting nor a server that says nothing keeps a caller
	 * longer than its timeout. A worker whose caller has gone sends nothing more, and
	 * whatever was begun ends with the driver's own timeout.
	 *
	 * Acquisitions, renewals and releases have a runner each: those that wait for a dead
	 * replica may take all the workers of theirs. The connections are common to all.
	 *
	 * A connection on which something was not answered, or not acknowledged, is thrown
	 * away: it may be one to a master that has been replaced, stopped meanwhile and awake
	 * again, which says yes to everything, but has no replicas any more.
	 */

	private static final long LEAST_WAIT = 1;

	/** What is left for the answer to come back before the caller goes. */
	private static final int PARTS_OF_TIME_LEFT = 10;

	private final ScriptsWithoutCache scripts = new ScriptsWithoutCache(new StringRedisTemplate());

	private final DedicatedConnections connections;

	private final ThreadPoolExecutor workers;

	private final int replicas;

	private final Duration ackTimeout;

	private final Duration commandTimeout;

	private final Runnable suspicion;

	/**
	 * Makes a runner.
	 * @param name name of its threads
	 * @param size number of its threads
	 * @param connections as many as there are threads of all runners; the caller's to
	 * close
	 * @param replicas how many of them must have what a script wrote; may be none
	 * @param suspicion told when the server has no replicas, or silent ones: it might be
	 * the master no more
	 */
	AcknowledgedCommands(String name, int size, DedicatedConnections connections, RedisStoreSettings settings,
			int replicas, Runnable suspicion) {
		this.connections = connections;
		this.workers = DaemonThreads.onDemand(name, size);
		this.replicas = replicas;
		this.ackTimeout = settings.replicaAckTimeout();
		this.commandTimeout = settings.commandTimeout();
		this.suspicion = suspicion;
	}

	@Override
	public <T> T run(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		Duration limit = (timeout.compareTo(this.commandTimeout) < 0) ? timeout : this.commandTimeout;
		long end = System.nanoTime() + limit.toNanos();
		AtomicBoolean gone = new AtomicBoolean();
		Future<T> answer;
		try {
			answer = this.workers.submit(() -> runOnSoundConnection(script, keys, args, end, gone));
		}
		catch (RejectedExecutionException ex) {
			throw new LockUnavailableException("The lock store is closed", ex);
		}
		try {
			return answer.get(limit.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof LockUnavailableException unavailable) {
				throw unavailable;
			}
			throw UnavailableTranslator.translate(limit, (ex.getCause() instanceof RuntimeException cause) ? cause
					: new RedisSystemException("Command failed", ex.getCause()));
		}
		catch (TimeoutException ex) {
			gone.set(true);
			answer.cancel(false);
			throw UnavailableTranslator.translate(limit, new QueryTimeoutException("No answer from Redis", ex));
		}
		catch (InterruptedException ex) {
			gone.set(true);
			answer.cancel(false);
			throw UnavailableTranslator.translate(limit,
					new RedisSystemException("Interrupted while waiting for Redis", ex));
		}
	}

	private <T> T runOnSoundConnection(RedisScript<T> script, List<String> keys, Object[] args, long end,
			AtomicBoolean gone) {
		for (int stale = 0;; stale++) {
			DedicatedConnections.Taken taken = this.connections.take();
			boolean sound = false;
			try {
				if (gone.get()) {
					throw new CallerGoneException();
				}
				T answer = runAndWait(taken, script, keys, args, end);
				sound = true;
				return answer;
			}
			catch (CallerGoneException ex) {
				sound = true;
				throw ex;
			}
			catch (RuntimeException ex) {
				sound = this.connections.isAnswered(ex) && !PassingTrouble.isReadOnly(ex);
				if (stale == this.connections.size() || !this.connections.isStale(taken, ex)) {
					throw ex;
				}
			}
			finally {
				this.connections.giveBack(taken, sound);
			}
		}
	}

	private <T> T runAndWait(DedicatedConnections.Taken taken, RedisScript<T> script, List<String> keys, Object[] args,
			long end) {
		millisUntil(end);
		T answer = evaluate(taken.connection(), script, keys, args);
		if (answer == null) {
			throw UnavailableTranslator.noAnswer();
		}
		if (this.replicas == 0 || !hasWritten(answer)) {
			return answer;
		}
		long left = millisUntil(end);
		long millis = Math.max(LEAST_WAIT, Math.min(this.ackTimeout.toMillis(), left - left / PARTS_OF_TIME_LEFT));
		long acknowledged = this.connections.waitForReplicas(taken, this.replicas, millis);
		if (acknowledged < this.replicas) {
			this.suspicion.run();
			throw new TooFewReplicasException(acknowledged, this.replicas, Duration.ofMillis(millis),
					(answer instanceof List<?> renewed) ? renewed : List.of());
		}
		return answer;
	}

	private static long millisUntil(long end) {
		long left = end - System.nanoTime();
		if (left <= 0) {
			throw new CallerGoneException();
		}
		return TimeUnit.NANOSECONDS.toMillis(left);
	}

	/**
	 * Whether a lease depends on what the script has written: one that was got, or at
	 * least one that was renewed.
	 */
	private static boolean hasWritten(Object answer) {
		return (answer instanceof List<?> renewed) ? renewed.contains(1L) : answer.toString().startsWith("1");
	}

	@SuppressWarnings("unchecked")
	private <T> @Nullable T evaluate(RedisConnection connection, RedisScript<T> script, List<String> keys,
			Object[] args) {
		byte[][] words = new byte[keys.size() + args.length][];
		for (int i = 0; i < words.length; i++) {
			words[i] = bytes((i < keys.size()) ? keys.get(i) : (String) args[i - keys.size()]);
		}
		return this.scripts.eval(connection, script, ReturnType.fromJavaType(script.getResultType()), keys.size(),
				words, (RedisSerializer<T>) RedisSerializer.string());
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	@Override
	public void close() {
		this.workers.shutdownNow();
	}

	/**
	 * Whoever asked has stopped waiting. Says nothing against the connection.
	 */
	private static final class CallerGoneException extends QueryTimeoutException {

		private static final long serialVersionUID = 1L;

		CallerGoneException() {
			super("No answer from Redis in time");
		}

	}

}
