package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.LockUnavailableException;

import org.springframework.data.redis.core.script.RedisScript;

/**
 * Executes scripts, each once. Thread-safe.
 *
 * @since 0.1
 */
public interface RedisScriptExecutor extends AutoCloseable {

	/**
	 * Executes a script.
	 * @param <T> type of the reply
	 * @param script the script
	 * @param keys its keys, all of them in one hash slot
	 * @param args its arguments, as text
	 * @param timeout time after which nobody waits for the reply; the command timeout if
	 * that is shorter
	 * @return the reply. Fails with a {@link LockUnavailableException} without a usable
	 * reply, and may never complete; the script may have been executed all the same
	 */
	<T> CompletionStage<T> execute(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout);

	/**
	 * Releases the executor's own resources, but not the connections.
	 */
	@Override
	default void close() {
		// no resources of its own
	}

}
