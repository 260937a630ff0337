package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.core.script.RedisScript;

/**
 * Executes scripts, each within a timeout. Thread-safe.
 *
 * @since 0.1
 */
public interface RedisScriptExecutor extends AutoCloseable {

	/**
	 * Executes a script and waits for its reply. Repeats it within the timeout while a
	 * cluster is not ready for it.
	 * @param <T> type of the reply
	 * @param script the script
	 * @param keys its keys, all of them in one hash slot
	 * @param args its arguments, as text
	 * @param timeout the longest wait; the command timeout if that is shorter
	 * @return the reply
	 * @throws LockUnavailableException without a usable reply; the script may have been
	 * executed all the same
	 */
	default <T> T execute(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		return execute(script, keys, args, timeout, null);
	}

	/**
	 * Executes a script like {@link #execute(RedisScript, List, Object[], Duration)}, and
	 * counts how often it was sent: after a lost connection the reply is the one to its
	 * last execution, of perhaps several.
	 * @param <T> type of the reply
	 * @param script the script
	 * @param keys its keys
	 * @param args its arguments
	 * @param timeout the longest wait
	 * @param sends incremented before the script is sent; null if it does not matter
	 * @return the reply
	 * @throws LockUnavailableException without a usable reply
	 */
	<T> T execute(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout,
			@Nullable AtomicInteger sends);

	/**
	 * Executes a script like {@link #execute}, but does not repeat it.
	 * @param <T> type of the reply
	 * @param script the script
	 * @param keys its keys
	 * @param args its arguments
	 * @param timeout the longest wait
	 * @return the reply
	 * @throws LockUnavailableException without a usable reply
	 */
	default <T> T executeOnce(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		return execute(script, keys, args, timeout);
	}

	/**
	 * Sends a script without waiting for its reply. Scripts that are executed or sent
	 * later for the same keys follow it. Never blocks.
	 * @param script the script
	 * @param keys its keys, all of them in one hash slot
	 * @param args its arguments, as text
	 * @return the reply, or a failure; empty if that is not possible, now or ever
	 */
	default Optional<CompletionStage<String>> executeAsync(RedisScript<String> script, List<String> keys,
			Object[] args) {
		return Optional.empty();
	}

	/**
	 * Releases the executor's own resources, which the connections are not.
	 */
	@Override
	default void close() {
		// no resources of its own
	}

}
