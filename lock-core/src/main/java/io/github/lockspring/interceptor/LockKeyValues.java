package io.github.lockspring.interceptor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.github.lockspring.LockDefinitionException;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.util.CollectionUtils;

/**
 * Turns what an expression gives into the text of a key. Whatever two different things
 * could share by accident ("null", an empty text, the identity of an object) is refused.
 *
 * @param operation the annotation with the key
 * @param expression the expression
 */
record LockKeyValues(LockOperation operation, String expression) {

	private static final ClassValue<Boolean> HAS_TEXT = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return ClassUtils.getMethod(type, "toString").getDeclaringClass() != Object.class;
		}

	};

	/**
	 * Returns the texts of a value.
	 * @param value what the expression gave
	 * @return one text, or that of each element, and never empty
	 */
	List<String> texts(@Nullable Object value) {
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
			if (element.getClass().isArray() || (element instanceof Iterable && !(element instanceof Path))) {
				throw error("it gives a collection inside a collection", "Name one flat collection");
			}
			texts.add(text(element));
		}
		if (texts.isEmpty()) {
			throw error("it gives an empty collection, and there is nothing to lock",
					"Let such calls run without the lock: condition = \"" + this.expression
							+ ".size() > 0\" (an array: .length > 0)");
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

	private String text(@Nullable Object value) {
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
			throw error("it gives null", remedyForNothing());
		}
		if (value instanceof Map) {
			throw error("it gives a map", "Name what identifies it, such as " + this.expression + ".keySet()");
		}
		if (!HAS_TEXT.get(value.getClass())) {
			throw noText(value);
		}
		String text = value.toString();
		// A generated subclass may pass toString() on to a class without one
		if (text != null && text.indexOf('@') != -1
				&& text.endsWith('@' + Integer.toHexString(System.identityHashCode(value)))) {
			throw noText(value);
		}
		return checked(text);
	}

	private String checked(@Nullable String text) {
		if (text == null) {
			throw error("it gives an object whose toString() is null", remedyForNothing());
		}
		if (text.isEmpty()) {
			throw error("it gives an empty text", remedyForNothing());
		}
		return text;
	}

	private String remedyForNothing() {
		return "Give it a value before the call, or let such calls run without the lock: condition = \""
				+ this.expression + " != null\"";
	}

	private LockDefinitionException noText(Object value) {
		return error(
				"it gives an object of the type " + value.getClass().getSimpleName()
						+ ", whose toString() names the object and not what it stands for",
				"Name what identifies it: use " + this.expression + ".id, or whatever its identifier is");
	}

	LockDefinitionException error(String problem, String remedy) {
		return error(problem, remedy, null);
	}

	LockDefinitionException error(String problem, String remedy, @Nullable Throwable cause) {
		String where = (this.operation.key().equals(this.expression)) ? problem : this.expression + ": " + problem;
		return this.operation.error(where, remedy, cause);
	}

}
