package io.github.lockspring.internal.base;

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
		if (name.isEmpty()) {
			throw new IllegalArgumentException("The name of a lock must not be empty");
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

	private static String text(String name, Object key) {
		if (key == null) {
			throw new IllegalArgumentException("The key of a lock '" + name + "' is null");
		}
		if (key instanceof Enum<?> constant) {
			return constant.name();
		}
		String text = key.toString();
		if (text == null || text.isEmpty()) {
			throw new IllegalArgumentException("The key of a lock '" + name + "' is empty");
		}
		return text;
	}

}
