package io.github.lockspring.internal.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.common.LiteralExpression;

/**
 * A parsed key: literal text and expressions in turn. Different values never give the
 * same key: between two expressions there is always text, and the characters of that text
 * are percent-escaped in the values.
 * <p>
 * Immutable and thread-safe.
 */
final class LockKeyExpression {

	private static final char ESCAPE = '%';

	/** One more than there are expressions. */
	private final List<String> literals;

	private final List<Part> parts;

	private final IntPredicate escaped;

	private LockKeyExpression(List<String> literals, List<Part> parts) {
		this.literals = List.copyOf(literals);
		this.parts = List.copyOf(parts);
		String between = (parts.size() > 1) ? ESCAPE + String.join("", literals.subList(1, parts.size())) : "";
		this.escaped = (c) -> between.indexOf(c) != -1;
	}

	/**
	 * Creates a key of constant text.
	 * @param text the text, with the operation's name
	 * @return the key
	 */
	static LockKeyExpression constant(String text) {
		return new LockKeyExpression(List.of(text), List.of());
	}

	/**
	 * Creates a key with expressions.
	 * @param operation the operation
	 * @param start text before the first part
	 * @param parsed literals and expressions in their order
	 * @return the key
	 */
	static LockKeyExpression of(LockOperation operation, String start, Expression... parsed) {
		List<String> literals = new ArrayList<>();
		List<Part> parts = new ArrayList<>();
		StringBuilder literal = new StringBuilder(start);
		for (Expression each : parsed) {
			if (each instanceof LiteralExpression) {
				literal.append(each.getExpressionString());
			}
			else {
				checkSeparator(operation, literal, parts.isEmpty());
				literals.add(literal.toString());
				literal.setLength(0);
				parts.add(new Part(each, new LockKeyValues(operation, each.getExpressionString())));
			}
		}
		literals.add(literal.toString());
		return new LockKeyExpression(literals, parts);
	}

	private static void checkSeparator(LockOperation operation, StringBuilder literal, boolean first) {
		if (!first && literal.isEmpty()) {
			throw operation.error("two expressions stand side by side, and different values could give the same key",
					"Put a separator between them, as in \"#{#a}:#{#b}\"");
		}
		if (!first && literal.indexOf("%") != -1) {
			throw operation.error("% stands between two expressions, where it is the escape character",
					"Put another separator between them, as in \"#{#a}:#{#b}\"");
		}
	}

	/**
	 * Whether all calls have the same key.
	 * @return the key, or null if it depends on the call
	 */
	@Nullable String constantKey() {
		return (this.parts.isEmpty()) ? this.literals.get(0) : null;
	}

	/**
	 * Returns the expressions in their order.
	 */
	Stream<Expression> expressions() {
		return this.parts.stream().map(Part::expression);
	}

	/**
	 * The keys of a call.
	 * @param context the call
	 * @return at least one key
	 * @throws io.github.lockspring.LockDefinitionException if a value cannot be a key
	 */
	List<String> keys(EvaluationContext context) {
		List<String> keys = List.of(this.literals.get(0));
		boolean several = false;
		for (int i = 0; i < this.parts.size(); i++) {
			Part part = this.parts.get(i);
			List<String> texts = part.texts(context);
			if (several && texts.size() > 1) {
				throw part.values.error("it gives a collection, and so does an expression before it",
						"Let only one expression of a template give a collection");
			}
			several |= texts.size() > 1;
			keys = combine(keys, texts, this.literals.get(i + 1));
		}
		return keys;
	}

	private List<String> combine(List<String> starts, List<String> texts, String end) {
		if (starts.size() == 1 && texts.size() == 1) {
			return List.of(join(starts.get(0), texts.get(0), end));
		}
		List<String> keys = new ArrayList<>(starts.size() * texts.size());
		for (String start : starts) {
			for (String text : texts) {
				keys.add(join(start, text, end));
			}
		}
		return keys;
	}

	private String join(String start, String text, String end) {
		// the usual key is a value and nothing else, which needs no copy
		return (start.isEmpty() && end.isEmpty()) ? escape(text) : start + escape(text) + end;
	}

	private String escape(String text) {
		return (this.parts.size() > 1) ? escape(text, this.escaped) : text;
	}

	static String escape(String text, IntPredicate escaped) {
		int first = 0;
		while (first < text.length() && !escaped.test(text.charAt(first))) {
			first++;
		}
		if (first == text.length()) {
			return text;
		}
		StringBuilder result = new StringBuilder(text.length() + 8).append(text, 0, first);
		for (int i = first; i < text.length(); i++) {
			char c = text.charAt(i);
			if (!escaped.test(c)) {
				result.append(c);
			}
			else {
				result.append((c <= 0xFF) ? "%%%02X".formatted((int) c) : "%%u%04X".formatted((int) c));
			}
		}
		return result.toString();
	}

	private record Part(Expression expression, LockKeyValues values) {

		List<String> texts(EvaluationContext context) {
			Object value;
			try {
				value = this.expression.getValue(context);
			}
			catch (EvaluationException ex) {
				throw this.values.error("it cannot be evaluated: " + ex.getMessage(),
						"Correct the expression, or let such calls run without the lock with a condition", ex);
			}
			return this.values.texts(value);
		}

	}

}
