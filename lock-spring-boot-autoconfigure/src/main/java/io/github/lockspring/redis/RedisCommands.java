package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Runs scripts within a time limit and turns everything that is not an answer into
 * {@link LockUnavailableException}.
 */
final class RedisCommands implements ScriptRunner {

	private static final long PAUSE_BEFORE_AGAIN = TimeUnit.MILLISECONDS.toNanos(20);

	private final RedisConnections connections;

	private final Duration commandTimeout;

	RedisCommands(RedisConnections connections, Duration commandTimeout) {
		this.connections = connections;
		this.commandTimeout = commandTimeout;
	}

	@Override
	public <T> T run(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		Duration limit = (timeout.compareTo(this.commandTimeout) < 0) ? timeout : this.commandTimeout;
		long start = System.nanoTime();
		while (true) {
			Duration left = limit.minusNanos(System.nanoTime() - start);
			try {
				@Nullable T answer = this.connections.<@Nullable T>call(this.connections.lane(keys.get(0)),
						(template) -> template.execute(script, keys, args), left);
				if (answer == null) {
					throw UnavailableTranslator.noAnswer();
				}
				return answer;
			}
			catch (LockUnavailableException ex) {
				throw ex;
			}
			catch (RuntimeException ex) {
				boolean again = isTryAgain(ex)
						&& limit.minusNanos(System.nanoTime() - start).toNanos() > 2 * PAUSE_BEFORE_AGAIN;
				if (!again) {
					throw UnavailableTranslator.translate(limit, ex);
				}
				LockSupport.parkNanos(PAUSE_BEFORE_AGAIN);
			}
		}
	}

	/**
	 * Publishes a message, once.
	 */
	void publish(String channel, String message) {
		this.connections.call((template) -> template.convertAndSend(channel, message), this.commandTimeout);
	}

	// while a cluster slot migrates, scripts are refused of which one key is missing
	private static boolean isTryAgain(RuntimeException failure) {
		String words = NestedExceptionUtils.getMostSpecificCause(failure).getMessage();
		return words != null && words.startsWith("TRYAGAIN") && !Thread.currentThread().isInterrupted();
	}

}
