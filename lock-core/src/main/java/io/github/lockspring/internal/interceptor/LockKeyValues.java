package io.github.lockspring.internal.interceptor;

import io.github.lockspring.LockTemplate;

import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.time.temporal.Temporal;
import java.util.ArrayList;
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
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.NativeDetector;
import org.springframework.util.ClassUtils;
import org.springframework.util.CollectionUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Turns what an expression gives into the text of a key. Refused is whatever two
 * different things could share by accident ("null", an empty text), and what has another
 * text elsewhere: the identity of an object, a time in the time zone of this process,
 * elements without an order. A String is taken as it is.
 *
 * @param operation the annotation with the key
 * @param expression the expression
 */
record LockKeyValues(LockOperation operation, String expression) {

	/** The end of a remedy for a call that names no key. */
	static final String UNLOCKED = ". Where such calls need no lock,"
			+ " use LockTemplate.execute inside an if, instead of the annotation";

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
			RecordComponent[] components = NativeDetector.inNativeImage() ? null : type.getRecordComponents();
			return Stream.ofNullable(components)
				.flatMap(Arrays::stream)
				.filter((component) -> !isPlain(component.getType()))
				.map(RecordComponent::getAccessor)
				.filter(Method::trySetAccessible)
				.toList();
		}

		private boolean isPlain(Class<?> type) {
			return ClassUtils.isPrimitiveOrWrapper(type) || type == String.class || type == UUID.class || type.isEnum()
					|| Temporal.class.isAssignableFrom(type);
		}

	};

	/**
	 * Returns the texts of a value.
	 * @param value what the expression gave
	 * @return one text, or that of each element, and never empty
	 */
	List<String> texts(@Nullable Object value) {
		if (value instanceof Optional<?> optional) {
			return texts(optional.orElse(null));
		}
		if (value instanceof Iterable<?> elements && !(value instanceof Path)) {
			return texts(elements);
		}
		if (value != null && value.getClass().isArray()) {
			return texts(elements(value));
		}
		return List.of(text(value));
	}

	private List<String> texts(Iterable<?> elements) {
		List<String> texts = new ArrayList<>((elements instanceof Collection<?> known) ? known.size() : 10);
		for (Object element : elements) {
			if (element == null) {
				throw error("it gives null among its elements",
						"Leave null elements out, as in " + this.expression + ".?[#this != null]");
			}
			texts.add(text(element));
		}
		if (texts.isEmpty()) {
			throw error("it gives an empty collection, and there is nothing to lock",
					"Do not call the method then" + UNLOCKED);
		}
		return texts;
	}

	private List<?> elements(Object array) {
		if (array instanceof byte[] || array instanceof char[]) {
			throw error("it gives a " + array.getClass().getSimpleName() + ", which is no text",
					"Make a text of it, such as its hexadecimal form");
		}
		return CollectionUtils.arrayToList(array);
	}

	/**
	 * Returns the text of a value that is joined with others.
	 * @param value what the expression gave
	 * @return its text, never empty
	 */
	String joined(@Nullable Object value) {
		if (isCollection(value)) {
			throw error("it gives a collection, which is joined as a whole",
					"Join each element, as in " + this.expression + ".!['order:' + #this]");
		}
		return text(value);
	}

	private static boolean isCollection(@Nullable Object value) {
		return value != null && (value.getClass().isArray() || (value instanceof Iterable && !(value instanceof Path)));
	}

	/**
	 * Returns the text of one value.
	 * @param value what the expression gave
	 * @return its text, never empty
	 */
	String text(@Nullable Object value) {
		if (value instanceof String text) {
			return checked(text);
		}
		if (value instanceof Enum<?> constant) {
			return constant.name();
		}
		if (value instanceof Optional<?> optional) {
			return text(optional.orElse(null));
		}
		if (value == null) {
			throw nothing("it gives null");
		}
		if (isCollection(value)) {
			throw error("it gives a collection inside a collection", "Name one flat collection");
		}
		if (value instanceof Map) {
			throw error("it gives a map", "Name what identifies it, such as " + this.expression + ".keySet()");
		}
		String text = checked(value.toString());
		if (namesObject(text, value.getClass().getClassLoader())) {
			throw unusable(value, "names an object and not what it stands for", ".id, or whatever its identifier is");
		}
		checkParts(value, text, value);
		return text;
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
			if (name == null || name.contains("$$Lambda") || ClassUtils.isPresent(name, classLoader)) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Refuses a value, a component of a record or an element that has another text
	 * elsewhere. Parts that the whole text does not contain do no harm.
	 */
	private void checkParts(Object whole, String text, Object part) {
		if (part instanceof Date) {
			throw unusable(whole, "depends on the time zone",
					(part == whole) ? ".time" : ".id, or whatever its identifier is, and .time of a date");
		}
		if (part instanceof Calendar) {
			throw unusable(whole, "depends on the time zone", ".timeInMillis of the calendar");
		}
		if (isUnordered(part)) {
			throw unusable(whole, "has elements in no order", ".id, or whatever its identifier is");
		}
		if (part instanceof Record) {
			for (Method component : COMPONENTS.get(part.getClass())) {
				checkPart(whole, text, ReflectionUtils.invokeMethod(component, part));
			}
		}
		else if (part instanceof Collection<?> elements) {
			elements.forEach((element) -> checkPart(whole, text, element));
		}
		else if (part instanceof Map<?, ?> map) {
			map.forEach((key, element) -> {
				checkPart(whole, text, key);
				checkPart(whole, text, element);
			});
		}
	}

	private void checkPart(Object whole, String text, @Nullable Object part) {
		if (part != null && text.contains(part.toString())) {
			checkParts(whole, text, part);
		}
	}

	private static boolean isUnordered(Object value) {
		return (value instanceof Set && !(value instanceof SortedSet) && !(value instanceof LinkedHashSet)
				&& !(value instanceof EnumSet))
				|| (value instanceof Map && !(value instanceof SortedMap) && !(value instanceof LinkedHashMap)
						&& !(value instanceof EnumMap));
	}

	private String checked(@Nullable String text) {
		if (text == null) {
			throw nothing("it gives an object whose toString() is null");
		}
		if (text.isEmpty()) {
			throw nothing("it gives an empty text");
		}
		return text;
	}

	private IllegalArgumentException nothing(String problem) {
		return error(problem, "Give it a value before the call" + UNLOCKED);
	}

	private IllegalArgumentException unusable(Object value, String why, String property) {
		return error("it gives an object of the type " + value.getClass().getSimpleName() + ", whose toString() " + why,
				"Name what identifies it: use " + this.expression + property);
	}

	IllegalArgumentException error(String problem, String remedy) {
		return error(problem, remedy, null);
	}

	IllegalArgumentException error(String problem, String remedy, @Nullable Throwable cause) {
		String where = (this.operation.key().equals(this.expression)) ? problem : this.expression + ": " + problem;
		return this.operation.refused(where, remedy, cause);
	}

}
