package io.github.lockspring.redis.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Loads Lua scripts from the class path.
 *
 * @since 0.1
 */
public final class LuaScripts {

	private LuaScripts() {
	}

	/**
	 * Loads a script that returns text.
	 * @param owner the class in whose package the file is
	 * @param name the file name
	 * @return the script
	 * @throws UncheckedIOException if the file is missing
	 */
	public static RedisScript<String> returningText(Class<?> owner, String name) {
		return new DefaultRedisScript<>(read(owner, name), String.class);
	}

	/**
	 * Loads a script that returns a list of integers.
	 * @param owner the class in whose package the file is
	 * @param name the file name
	 * @return the script
	 * @throws UncheckedIOException if the file is missing
	 */
	@SuppressWarnings("unchecked")
	public static RedisScript<List<Object>> returningList(Class<?> owner, String name) {
		return new DefaultRedisScript<>(read(owner, name), (Class<List<Object>>) (Class<?>) List.class);
	}

	// as text: a script that is given as a resource checks the file's date on every
	// execution
	private static String read(Class<?> owner, String name) {
		try {
			return new ClassPathResource(name, owner).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
