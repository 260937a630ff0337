package io.github.lockspring.internal.interceptor;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * A parsed key: constant text, or what an expression gives after the name. Different
 * names and values never give the same key. Of an expression that joins text and values,
 * or lists several such ones, each value is checked as if it was the key:
 * {@code 'order:'} and null do not make {@code order:null}. Immutable and thread-safe.
 *
 * @param start the constant text, or the name and a colon
 * @param texts the texts after it, each with its parts; none if the key is constant
 */
record LockKeyExpression(String start, List<List<Part>> texts) {

	/**
	 * Creates a key of constant text.
	 * @param text the text, with the name
	 * @return the key
	 */
	static LockKeyExpression constant(String text) {
		return new LockKeyExpression(text, List.of());
	}

	/**
	 * Whether all calls have the same key.
	 * @return the key, or null if it depends on the call
	 */
	@Nullable String constantKey() {
		return (this.texts.isEmpty()) ? this.start : null;
	}

	/**
	 * Returns the expressions that a call evaluates.
	 */
	Stream<SpelExpression> expressions() {
		return this.texts.stream().flatMap(List::stream).map(Part::expression);
	}

	/**
	 * The keys of a call.
	 * @param context the call
	 * @return at least one key
	 * @throws IllegalArgumentException if a value cannot be a key
	 */
	List<String> keys(EvaluationContext context) {
		if (this.texts.size() == 1 && this.texts.get(0).size() == 1) {
			Part part = this.texts.get(0).get(0);
			List<String> values = part.values.texts(part.value(context));
			// the usual key is a value and nothing else, which needs no copy
			return (this.start.isEmpty()) ? values : values.stream().map(this.start::concat).toList();
		}
		List<String> keys = new ArrayList<>(this.texts.size());
		for (List<Part> parts : this.texts) {
			StringBuilder key = new StringBuilder(this.start);
			for (Part part : parts) {
				Object value = part.value(context);
				key.append((parts.size() > 1) ? part.values.joined(value) : part.values.text(value));
			}
			keys.add(key.toString());
		}
		return keys;
	}

	/**
	 * What is joined with others to a text of the key.
	 *
	 * @param expression gives the value
	 * @param values makes texts of what the expression gives
	 */
	record Part(SpelExpression expression, LockKeyValues values) {

		private static final Set<SpelMessage> ON_NULL = EnumSet.of(SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL,
				SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED, SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE);

		private @Nullable Object value(EvaluationContext context) {
			try {
				return this.expression.getValue(context);
			}
			catch (EvaluationException ex) {
				if (ex instanceof SpelEvaluationException failure && ON_NULL.contains(failure.getMessageCode())) {
					throw this.values.error("it reads a value of null: " + ex.getMessage(),
							"Give it a value before the call" + LockKeyValues.UNLOCKED, ex);
				}
				throw this.values.error("it cannot be evaluated: " + ex.getMessage(),
						"Correct the expression, or give the call what it reads" + LockKeyValues.UNLOCKED, ex);
			}
		}

	}

}
