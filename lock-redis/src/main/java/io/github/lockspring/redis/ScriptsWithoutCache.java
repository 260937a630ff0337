package io.github.lockspring.redis;

import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.script.DefaultScriptExecutor;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Sends the text of a script instead of its digest where the server, or a proxy before
 * it, refuses {@code EVALSHA}; tries that once, and remembers it.
 */
final class ScriptsWithoutCache extends DefaultScriptExecutor<String> {

	private static final Logger logger = LoggerFactory.getLogger(ScriptsWithoutCache.class);

	private volatile boolean refused;

	ScriptsWithoutCache(RedisTemplate<String, ?> template) {
		super(template);
	}

	@Override
	protected <T> @Nullable T eval(RedisConnection connection, RedisScript<T> script, @Nullable ReturnType returnType,
			int numKeys, byte[][] keysAndArgs, RedisSerializer<T> resultSerializer) {
		if (!this.refused) {
			try {
				return super.eval(connection, script, returnType, numKeys, keysAndArgs, resultSerializer);
			}
			catch (RuntimeException ex) {
				if (!isRefusal(ex)) {
					throw ex;
				}
				logger.info("Redis refuses EVALSHA: scripts are sent as text from now on");
				this.refused = true;
			}
		}
		Object result = connection.scriptingCommands()
			.eval(scriptBytes(script), ReturnType.fromJavaType(script.getResultType()), numKeys, keysAndArgs);
		return (script.getResultType() == null) ? null : deserializeResult(resultSerializer, result);
	}

	// a server names the command, a proxy may not know it
	private static boolean isRefusal(RuntimeException failure) {
		String words = String.valueOf(NestedExceptionUtils.getMostSpecificCause(failure).getMessage())
			.toLowerCase(Locale.ROOT);
		return words.contains("evalsha")
				&& List.of("noperm", "unknown command", "unsupported", "not supported", "not allowed", "disabled")
					.stream()
					.anyMatch(words::contains);
	}

}
