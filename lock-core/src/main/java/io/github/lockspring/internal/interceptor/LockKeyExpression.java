package io.github.lockspring.internal.interceptor;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * A parsed key: constant text, or what an expression gives after the name. Different
 * names and values never give the same key. Immutable and thread-safe.
 *
 * @param start the constant text, or the name and a colon
 * @param expression the expression, or null
 * @param values makes texts of what the expression gives
 */
record LockKeyExpression(String start, @Nullable SpelExpression expression, LockKeyValues values) {

	/**
	 * Returns the start of keys with a name. What has a meaning in it is escaped: the
	 * name {@code a:b} before {@code c} must not equal {@code a} before {@code b:c}.
	 * @param name the name
	 * @return the start, empty without a name
	 */
	static String start(String name) {
		return (name.isEmpty()) ? "" : name.replace("%", "%25").replace(":", "%3A") + ':';
	}

	/**
	 * Whether all calls have the same key.
	 * @return the key, or null if it depends on the call
	 */
	@Nullable String constantKey() {
		return (this.expression == null) ? this.start : null;
	}

	/**
	 * The keys of a call.
	 * @param context the call
	 * @return at least one key
	 * @throws IllegalArgumentException if a value cannot be a key
	 */
	List<String> keys(EvaluationContext context) {
		if (this.expression == null) {
			return List.of(this.start);
		}
		List<String> texts = this.values.texts(value(this.expression, context));
		// the usual key is a value and nothing else, which needs no copy
		return (this.start.isEmpty()) ? texts : texts.stream().map(this.start::concat).toList();
	}

	private @Nullable Object value(SpelExpression expression, EvaluationContext context) {
		try {
			return expression.getValue(context);
		}
		catch (EvaluationException ex) {
			throw this.values.error("it cannot be evaluated: " + ex.getMessage(),
					"Correct the expression, or give the call what it reads" + LockKeyValues.UNLOCKED, ex);
		}
	}

}
