package io.github.lockspring.redis.internal.client;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import io.github.lockspring.internal.base.LogThread;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisScriptingCommands;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Sends scripts on connections of Spring Data, and waits for their replies. Sends the
 * text of a script instead of its digest where the server does not know it, and always
 * once the server, or a proxy in front of it, has refused {@code EVALSHA}. Thread-safe.
 */
final class ScriptSender {

	private static final Logger logger = LoggerFactory.getLogger(ScriptSender.class);

	private static final List<String> REFUSALS = List.of("noperm", "unknown command", "unsupported", "not supported",
			"not allowed", "disabled");

	private volatile boolean digestsRefused;

	/**
	 * Executes a script that returns text or integers.
	 */
	<T> T evaluate(RedisConnection connection, RedisScript<T> script, List<String> keys, Object[] args) {
		byte[][] words = bytes(Stream.concat(keys.stream(), Stream.of(args)).toList());
		Object reply = evaluate(connection.scriptingCommands(), script, keys.size(), words);
		if (reply == null) {
			throw RedisErrors.noReply();
		}
		return decode(reply);
	}

	private @Nullable Object evaluate(RedisScriptingCommands commands, RedisScript<?> script, int keys,
			byte[][] words) {
		ReturnType type = ReturnType.fromJavaType(script.getResultType());
		if (!this.digestsRefused) {
			try {
				return commands.evalSha(script.getSha1(), type, keys, words);
			}
			catch (RuntimeException ex) {
				if (!isTextNeeded(ex)) {
					throw ex;
				}
			}
		}
		return commands.eval(script.getScriptAsString().getBytes(StandardCharsets.UTF_8), type, keys, words);
	}

	/**
	 * Returns whether the server, or a proxy in front of it, takes digests, as far as is
	 * known.
	 */
	boolean takesDigests() {
		return !this.digestsRefused;
	}

	/**
	 * Returns whether a digest failed in a way in which the text will not.
	 */
	boolean isTextNeeded(Throwable failure) {
		String message = RedisErrors.message(failure);
		String words = message.toLowerCase(Locale.ROOT);
		// a server names the command, a proxy may not know it
		if (words.contains("evalsha") && REFUSALS.stream().anyMatch(words::contains)) {
			LogThread.execute(() -> logger.info("Redis refuses EVALSHA. Scripts are sent as text from now on"));
			this.digestsRefused = true;
			return true;
		}
		return message.startsWith("NOSCRIPT");
	}

	static byte[][] bytes(List<?> texts) {
		byte[][] bytes = new byte[texts.size()][];
		for (int i = 0; i < bytes.length; i++) {
			bytes[i] = texts.get(i).toString().getBytes(StandardCharsets.UTF_8);
		}
		return bytes;
	}

	@SuppressWarnings("unchecked")
	static <T> T decode(Object reply) {
		if (reply instanceof List<?> list) {
			return (T) list.stream().map((each) -> ScriptSender.<Object>decode(each)).toList();
		}
		return (T) ((reply instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : reply);
	}

}
