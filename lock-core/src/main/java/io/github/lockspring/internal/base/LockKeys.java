package io.github.lockspring.internal.base;

import io.github.lockspring.LockRequest;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Composes keys, for annotations and programs alike.
 *
 * @since 0.1
 */
public final class LockKeys {

	private LockKeys() {
	}

	/**
	 * Composes the key {@code name:key}.
	 * @param name the name, not empty
	 * @param key the identifier
	 * @return the whole key
	 * @throws IllegalArgumentException if the name is empty, or the identifier cannot be
	 * a key
	 */
	public static String join(String name, Object key) {
		if (name == null || name.isEmpty()) {
			throw new IllegalArgumentException("The name of a lock must not be null or empty");
		}
		return LockOptions.checkKey(prefix(name) + text(name, key));
	}

	/**
	 * Returns what stands before the keys of a name. A colon or percent sign in it is
	 * escaped, so no other name and key give the same whole key.
	 * @param name the name, or empty for none
	 * @return the prefix
	 */
	public static String prefix(String name) {
		return name.isEmpty() ? "" : name.replace("%", "%25").replace(":", "%3A") + ':';
	}

	private static String text(String name, @Nullable Object key) {
		if (key instanceof Optional<?> optional) {
			return text(name, optional.orElse(null));
		}
		if (key == null) {
			throw refused(name, "null. Give it a value before the lock is requested");
		}
		if (key instanceof Map) {
			throw refused(name, "a map. Name what identifies it, such as its keySet(), with LockRequest.ofKeys");
		}
		if (key.getClass().isArray() || (key instanceof Iterable && !(key instanceof Path))) {
			throw refused(name,
					"a collection. Use LockRequest.ofKeys for several keys of a name, or call and for each of them");
		}
		if (key instanceof Enum<?> constant) {
			return constant.name();
		}
		String text = key.toString();
		if (text == null || text.isEmpty()) {
			throw refused(name, "an empty text. Give it a value before the lock is requested");
		}
		KeyText.Problem problem = (key instanceof String) ? null : KeyText.problemOf(key, text);
		if (problem != null) {
			throw refused(name, problem + ". Name what identifies it: use its " + problem.property().substring(1));
		}
		return text;
	}

	private static IllegalArgumentException refused(String name, String problem) {
		return new IllegalArgumentException("The key of a lock '" + name + "' is " + problem);
	}

}
