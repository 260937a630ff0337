package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.core.script.RedisScript;

/**
 * Runs scripts within a time limit and turns everything that is not an answer into
 * {@link LockUnavailableException}.
 */
final class RedisCommands implements ScriptRunner {

	private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);

	private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	private final RedisConnections connections;

	private final Duration commandTimeout;

	RedisCommands(RedisConnections connections, Duration commandTimeout) {
		this.connections = connections;
		this.commandTimeout = commandTimeout;
	}

	@Override
	public <T> T run(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		Duration limit = limit(timeout);
		long start = System.nanoTime();
		long pause = FIRST_PAUSE;
		while (true) {
			try {
				return ask(script, keys, args, limit.minusNanos(System.nanoTime() - start));
			}
			catch (LockUnavailableException ex) {
				throw ex;
			}
			catch (RuntimeException ex) {
				long left = limit.toNanos() - (System.nanoTime() - start);
				if (!PassingTrouble.is(ex) || Thread.currentThread().isInterrupted() || left < 2 * pause) {
					throw UnavailableTranslator.translate(limit, ex);
				}
			}
			LockSupport.parkNanos(pause);
			pause = Math.min(2 * pause, LONGEST_PAUSE);
		}
	}

	@Override
	public <T> T runOnce(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		Duration limit = limit(timeout);
		try {
			return ask(script, keys, args, limit);
		}
		catch (LockUnavailableException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw UnavailableTranslator.translate(limit, ex);
		}
	}

	private Duration limit(Duration timeout) {
		return (timeout.compareTo(this.commandTimeout) < 0) ? timeout : this.commandTimeout;
	}

	private <T> T ask(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		@Nullable T answer = this.connections.<@Nullable T>call(this.connections.shard(keys.get(0)),
				(template) -> template.execute(script, keys, args), timeout);
		if (answer == null) {
			throw UnavailableTranslator.noAnswer();
		}
		return answer;
	}

	/**
	 * Publishes a message, once.
	 */
	void publish(String channel, String message) {
		// drivers send it where a key of that name would be
		this.connections.call(this.connections.shard(channel), (template) -> template.convertAndSend(channel, message),
				this.commandTimeout);
	}

}
