package io.github.lockspring.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * The three scripts, as they lie beside this class.
 */
final class RedisScripts {

	static final RedisScript<String> ACQUIRE = new DefaultRedisScript<>(text("acquire.lua"), String.class);

	static final RedisScript<String> RELEASE = new DefaultRedisScript<>(text("release.lua"), String.class);

	static final RedisScript<List<Object>> RENEW = new DefaultRedisScript<>(text("renew.lua"), listType());

	static final RedisScript<String> PUBLISH = new DefaultRedisScript<>(text("publish.lua"), String.class);

	private RedisScripts() {
	}

	// as text: a script made from a resource looks at the file's date at each execution
	static String text(String name) {
		try (InputStream in = RedisScripts.class.getResourceAsStream(name)) {
			if (in == null) {
				throw new IllegalStateException(
						"Script not found on the class path: io/github/lockspring/redis/" + name);
			}
			return new String(in.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@SuppressWarnings("unchecked")
	static Class<List<Object>> listType() {
		return (Class<List<Object>>) (Class<?>) List.class;
	}

}
