package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;

import org.springframework.data.redis.core.script.RedisScript;

/**
 * Runs scripts, each within a time limit. Thread-safe.
 */
interface ScriptRunner extends AutoCloseable {

	/**
	 * Runs a script and waits for its answer; again, within the time, while a cluster is
	 * not ready for it.
	 * @throws io.github.lockspring.LockUnavailableException without a usable answer; the
	 * script may have run all the same
	 */
	<T> T run(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout);

	/**
	 * The same without a second attempt.
	 */
	default <T> T runOnce(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		return run(script, keys, args, timeout);
	}

	@Override
	default void close() {
		// connections are somebody else's
	}

}
