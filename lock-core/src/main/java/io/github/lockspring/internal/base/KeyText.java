package io.github.lockspring.internal.base;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.time.temporal.Temporal;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * Decides whether the text of a value identifies it in all processes. It does not if it
 * is the identity of an object, a time in the time zone of this process, or has elements
 * without an order.
 *
 * @since 0.1
 */
public final class KeyText {

	/**
	 * Why a text is no key.
	 *
	 * @param value the value
	 * @param why what its {@code toString()} does
	 * @param property what identifies the value instead, to be put behind it
	 */
	public record Problem(Object value, String why, String property) {

		/**
		 * Describes the problem as part of a sentence.
		 */
		@Override
		public String toString() {
			return "an object of the type " + this.value.getClass().getSimpleName() + ", whose toString() " + this.why;
		}

	}

	/**
	 * What {@link Object#toString()} writes, at the end of a text or inside of it: an
	 * array, or the name of a class.
	 */
	private static final Pattern IDENTITY = Pattern.compile("(?:\\[[ZBCDFIJS]|\\[L[^;@\\s]+;"
			+ "|(?<name>\\p{javaJavaIdentifierStart}[\\p{javaJavaIdentifierPart}./]*))"
			+ "@[0-9a-f]{1,8}(?![.-]?\\p{javaJavaIdentifierPart})");

	/** The components of a record whose texts may be unusable. */
	private static final ClassValue<List<Method>> COMPONENTS = new ClassValue<>() {

		@Override
		protected List<Method> computeValue(Class<?> type) {
			RecordComponent[] components = System.getProperty("org.graalvm.nativeimage.imagecode") != null ? null
					: type.getRecordComponents();
			return Stream.ofNullable(components)
				.flatMap(Arrays::stream)
				.filter((component) -> !isPlain(component.getType()))
				.map(RecordComponent::getAccessor)
				.filter(Method::trySetAccessible)
				.toList();
		}

		private boolean isPlain(Class<?> type) {
			return type.isPrimitive() || Number.class.isAssignableFrom(type) || type == Boolean.class
					|| type == Character.class || type == String.class || type == UUID.class || type.isEnum()
					|| Temporal.class.isAssignableFrom(type);
		}

	};

	private KeyText() {
	}

	/**
	 * Examines a value.
	 * @param value the value, not a String
	 * @param text its text
	 * @return the problem, or null if the text can be a key
	 */
	public static @Nullable Problem problemOf(Object value, String text) {
		if (namesObject(text, value.getClass().getClassLoader())) {
			return new Problem(value, "names an object and not what it stands for",
					".id, or whatever its identifier is");
		}
		return ofPart(value, text, value);
	}

	/**
	 * A text with an @, such as a mail address, names an object only if what precedes
	 * the @ is a class.
	 */
	private static boolean namesObject(String text, @Nullable ClassLoader classLoader) {
		if (text.indexOf('@') == -1) {
			return false;
		}
		Matcher identity = IDENTITY.matcher(text);
		while (identity.find()) {
			String name = identity.group("name");
			if (name == null || name.contains("$$Lambda") || isClass(name, classLoader)) {
				return true;
			}
		}
		return false;
	}

	private static boolean isClass(String name, @Nullable ClassLoader classLoader) {
		ClassLoader loader = (classLoader != null) ? classLoader : Thread.currentThread().getContextClassLoader();
		try {
			Class.forName(name, false, (loader != null) ? loader : KeyText.class.getClassLoader());
			return true;
		}
		catch (ClassNotFoundException | LinkageError ex) {
			return false;
		}
	}

	/**
	 * Examines a value, a component of a record or an element. Parts that the whole text
	 * does not contain do no harm.
	 */
	private static @Nullable Problem ofPart(Object whole, String text, @Nullable Object part) {
		if (part == null || (part != whole && !text.contains(part.toString()))) {
			return null;
		}
		if (part instanceof Date) {
			return new Problem(whole, "depends on the time zone",
					(part == whole) ? ".time" : ".id, or whatever its identifier is, and .time of a date");
		}
		if (part instanceof Calendar) {
			return new Problem(whole, "depends on the time zone", ".timeInMillis of the calendar");
		}
		if (isUnordered(part)) {
			return new Problem(whole, "has elements in no order", ".id, or whatever its identifier is");
		}
		return parts(part).map((each) -> ofPart(whole, text, each)).filter(Objects::nonNull).findFirst().orElse(null);
	}

	private static Stream<@Nullable Object> parts(Object value) {
		if (value instanceof Record) {
			return COMPONENTS.get(value.getClass()).stream().map((component) -> read(component, value));
		}
		if (value instanceof Collection<?> elements) {
			return elements.stream().map((element) -> element);
		}
		if (value instanceof Map<?, ?> map) {
			return Stream.concat(map.keySet().stream(), map.values().stream());
		}
		return Stream.empty();
	}

	private static @Nullable Object read(Method component, Object value) {
		try {
			return component.invoke(value);
		}
		catch (ReflectiveOperationException ex) {
			return null;
		}
	}

	private static boolean isUnordered(Object value) {
		return (value instanceof Set && !(value instanceof SortedSet) && !(value instanceof LinkedHashSet)
				&& !(value instanceof EnumSet))
				|| (value instanceof Map && !(value instanceof SortedMap) && !(value instanceof LinkedHashMap)
						&& !(value instanceof EnumMap));
	}

}
