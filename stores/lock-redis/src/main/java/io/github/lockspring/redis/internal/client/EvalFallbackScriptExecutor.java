package io.github.lockspring.redis.internal.client;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultScriptExecutor;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.data.redis.serializer.RedisSerializer;

/**
 * Sends the text of a script instead of its digest once the server, or a proxy in front
 * of it, has refused {@code EVALSHA}.
 */
final class EvalFallbackScriptExecutor extends DefaultScriptExecutor<String> {

	private static final Logger logger = LoggerFactory.getLogger(EvalFallbackScriptExecutor.class);

	private static final List<String> REFUSALS = List.of("noperm", "unknown command", "unsupported", "not supported",
			"not allowed", "disabled");

	private final AtomicBoolean refused;

	EvalFallbackScriptExecutor(RedisTemplate<String, ?> template) {
		this(template, new AtomicBoolean());
	}

	/**
	 * Creates an executor.
	 * @param refused whether the server has refused {@code EVALSHA}, perhaps shared with
	 * others of the same server
	 */
	EvalFallbackScriptExecutor(RedisTemplate<String, ?> template, AtomicBoolean refused) {
		super(template);
		this.refused = refused;
	}

	/**
	 * Creates a template that executes scripts in this way. It exposes the connection
	 * itself: a proxy would be created for each command.
	 */
	static StringRedisTemplate template(RedisConnectionFactory factory) {
		return template(factory, new AtomicBoolean());
	}

	static StringRedisTemplate template(RedisConnectionFactory factory, AtomicBoolean refused) {
		StringRedisTemplate template = new StringRedisTemplate(factory);
		template.setExposeConnection(true);
		template.setScriptExecutor(new EvalFallbackScriptExecutor(template, refused));
		return template;
	}

	@Override
	protected <T> @Nullable T eval(RedisConnection connection, RedisScript<T> script, @Nullable ReturnType returnType,
			int numKeys, byte[][] keysAndArgs, RedisSerializer<T> resultSerializer) {
		if (!this.refused.get()) {
			try {
				return super.eval(connection, script, returnType, numKeys, keysAndArgs, resultSerializer);
			}
			catch (RuntimeException ex) {
				if (!isRefusal(ex)) {
					throw ex;
				}
				logger.info("Redis refuses EVALSHA. Scripts are sent as text from now on");
				this.refused.set(true);
			}
		}
		Object result = connection.scriptingCommands()
			.eval(scriptBytes(script), ReturnType.fromJavaType(script.getResultType()), numKeys, keysAndArgs);
		return (script.getResultType() == null) ? null : deserializeResult(resultSerializer, result);
	}

	// a server names the command, a proxy may not know it
	static boolean isRefusal(Throwable failure) {
		String message = RedisErrors.message(failure).toLowerCase(Locale.ROOT);
		return message.contains("evalsha") && REFUSALS.stream().anyMatch(message::contains);
	}

}
