package io.github.lockspring.internal.base;

import java.nio.file.Path;
import java.util.Calendar;
import java.util.Date;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Composes and checks keys, for annotations and programs alike. Rejects values that two
 * different things could share by accident (null, an empty text), and those whose text
 * differs from one process to another: the identity of an object, a time in the time zone
 * of this process. A String is taken as it is.
 *
 * @since 0.1
 */
public final class LockKeys {

	/**
	 * Longest key, in characters.
	 */
	public static final int MAX_LENGTH = 4096;

	/**
	 * The form that {@link Object#toString()} writes, also inside of a text: the name of
	 * an array or of a class in a package, and a number. Not a mail address. Possessive,
	 * so that a text with many dots neither takes long nor all of the stack.
	 */
	private static final Pattern IDENTITY = Pattern
		.compile("(\\[[ZBCDFIJS]|\\$\\$Lambda\\S*|[\\w$]++(?:\\.[\\w$]++)++;?)@[0-9a-f]{1,8}(?![.\\w-])");

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
		BiFunction<String, String, IllegalArgumentException> refused = (problem,
				remedy) -> new IllegalArgumentException(
						"The key of a lock '" + name + "' is " + problem + ". " + remedy);
		if (isCollection(key)) {
			throw refused.apply("a collection",
					"Use LockRequest.ofKeys for several keys of a name, or call and for each of them");
		}
		return check(prefix(name) + text(key, "Give it a value before the lock is requested", refused));
	}

	/**
	 * Checks a key.
	 * @param key the key, without the store's prefix
	 * @return the key
	 * @throws IllegalArgumentException if it is null, empty, longer than
	 * {@link #MAX_LENGTH} characters or not valid Unicode
	 */
	public static String check(@Nullable String key) {
		if (key == null || key.isEmpty()) {
			throw new IllegalArgumentException("A lock key must not be null or empty");
		}
		if (key.length() > MAX_LENGTH) {
			throw new IllegalArgumentException("A lock key has at most " + MAX_LENGTH + " characters, this one has "
					+ key.length() + ": '" + key.substring(0, 40) + "…'. Use an identifier or a hash of the value");
		}
		for (int i = 0; i < key.length(); i++) {
			char c = key.charAt(i);
			if (Character.isHighSurrogate(c) && i + 1 < key.length() && Character.isLowSurrogate(key.charAt(i + 1))) {
				i++;
			}
			else if (Character.isSurrogate(c)) {
				throw new IllegalArgumentException(
						"A lock key must be valid Unicode; this one has an unpaired surrogate at index " + i
								+ ". Encode binary values, for example as hex");
			}
		}
		return key;
	}

	/**
	 * Returns the prefix of the keys of a name. A colon or percent sign in it is escaped,
	 * so no other name and key give the same whole key.
	 * @param name the name, or empty for none
	 * @return the prefix
	 */
	public static String prefix(String name) {
		return name.isEmpty() ? "" : name.replace("%", "%25").replace(":", "%3A") + ':';
	}

	/**
	 * Returns whether a value stands for several keys.
	 * @param value the value
	 * @return whether it is a collection or an array
	 */
	public static boolean isCollection(@Nullable Object value) {
		return value != null && (value.getClass().isArray() || (value instanceof Iterable && !(value instanceof Path)));
	}

	/**
	 * Returns the text of one value.
	 * @param value the value
	 * @param missing what to do about a value that is null or empty
	 * @param refused creates the exception for a value that cannot be a key, from the
	 * problem, which is a noun, and the remedy
	 * @return its text, never empty
	 */
	public static String text(@Nullable Object value, String missing,
			BiFunction<String, String, IllegalArgumentException> refused) {
		if (value instanceof Optional<?> optional) {
			return text(optional.orElse(null), missing, refused);
		}
		if (value == null) {
			throw refused.apply("null", missing);
		}
		if (isCollection(value)) {
			throw refused.apply("a collection inside a collection", "Name one flat collection");
		}
		if (value instanceof Map) {
			throw refused.apply("a map", "Name what identifies it, such as its keySet()");
		}
		String text = (value instanceof Enum<?> constant) ? constant.name() : value.toString();
		if (text == null || text.isEmpty()) {
			throw refused.apply("an empty text", missing);
		}
		// a key of that length is refused anyway, and to search it takes long
		boolean search = !(value instanceof String) && text.length() <= MAX_LENGTH;
		String unusable = search ? unusable(value, text) : "";
		if (!unusable.isEmpty()) {
			throw refused.apply(
					"an object of the type " + value.getClass().getSimpleName() + ", whose toString() " + unusable,
					"Name what identifies it, such as its id or its time");
		}
		return text;
	}

	private static String unusable(Object value, String text) {
		if (value instanceof Date || value instanceof Calendar) {
			return "depends on the time zone";
		}
		boolean identity = text.indexOf('@') >= 0
				&& (text.startsWith(value.getClass().getName() + '@') || IDENTITY.matcher(text).find());
		return identity ? "names an object and not what it stands for" : "";
	}

}
