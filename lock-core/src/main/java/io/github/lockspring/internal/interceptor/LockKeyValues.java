package io.github.lockspring.internal.interceptor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.github.lockspring.internal.base.KeyText;
import org.jspecify.annotations.Nullable;

import org.springframework.util.CollectionUtils;

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
		KeyText.Problem problem = KeyText.problemOf(value, text);
		if (problem != null) {
			throw error("it gives " + problem, "Name what identifies it: use " + this.expression + problem.property());
		}
		return text;
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

	IllegalArgumentException error(String problem, String remedy) {
		return error(problem, remedy, null);
	}

	IllegalArgumentException error(String problem, String remedy, @Nullable Throwable cause) {
		String where = (this.operation.key().equals(this.expression)) ? problem : this.expression + ": " + problem;
		return this.operation.refused(where, remedy, cause);
	}

}
