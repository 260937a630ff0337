package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.LabelledRequest;
import io.github.lockspring.internal.base.LockKeys;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.BeanResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.util.CollectionUtils;

/**
 * The parsed key of a method: makes the request of each call from its arguments.
 * Different names and values never give the same key. Of an expression that joins text
 * and values, or lists several such ones, each value is checked as if it was the key:
 * {@code 'order:'} and null do not make {@code order:null}. Immutable and thread-safe.
 *
 * @param operation the annotation
 * @param start the constant text, or the name and a colon
 * @param texts the texts after it, each with its parts; none if the key is constant
 * @param positions the positions of the arguments by the names that expressions have for
 * them
 * @param shared the parts that the calls of all methods share
 * @param constant the request of every call, or null if the key depends on the call
 */
record LockKeyExpression(LockOperation operation, String start, List<List<Part>> texts, Map<String, Integer> positions,
		Shared shared, @Nullable LockRequest constant) {

	private static final String UNUSABLE = "it gives no usable key: ";

	private static final String IDENTIFIER = "Name an identifier, or a hash of the value";

	/**
	 * Creates a key of constant text.
	 * @throws io.github.lockspring.LockDefinitionException if the text is not a valid key
	 */
	static LockKeyExpression ofText(LockOperation operation, String text, Shared shared) {
		try {
			return new LockKeyExpression(operation, text, List.of(), Map.of(), shared,
					new LabelledRequest(operation.request(), List.of(text), operation.label()));
		}
		catch (IllegalArgumentException ex) {
			throw operation.error(UNUSABLE + ex.getMessage(), IDENTIFIER, ex);
		}
	}

	/**
	 * Returns the request of a call.
	 * @param target the object that the method is called on
	 * @param arguments the arguments
	 * @return the request
	 * @throws IllegalArgumentException if a value cannot be a key
	 */
	LockRequest request(@Nullable Object target, @Nullable Object[] arguments) {
		if (this.constant != null) {
			return this.constant;
		}
		List<String> keys = keys(new CallContext(target, arguments));
		try {
			return new LabelledRequest(this.operation.request(), keys, this.operation.label());
		}
		catch (IllegalArgumentException ex) {
			throw this.operation.refused(UNUSABLE + ex.getMessage(), IDENTIFIER, ex);
		}
	}

	private List<String> keys(EvaluationContext call) {
		if (this.texts.size() == 1 && this.texts.get(0).size() == 1) {
			List<String> values = this.texts.get(0).get(0).texts(call);
			// the usual key is a value and nothing else, which needs no copy
			return (this.start.isEmpty()) ? values : values.stream().map(this.start::concat).toList();
		}
		List<String> keys = new ArrayList<>(this.texts.size());
		for (List<Part> parts : this.texts) {
			StringBuilder key = new StringBuilder(this.start);
			for (Part part : parts) {
				key.append(part.text(call, parts.size() > 1));
			}
			keys.add(key.toString());
		}
		return keys;
	}

	/**
	 * Returns the expressions that a call evaluates.
	 */
	Stream<SpelExpression> expressions() {
		return this.texts.stream().flatMap(List::stream).map(Part::expression);
	}

	/**
	 * A part that is joined with others to a text of the key.
	 *
	 * @param expression gives the value
	 * @param operation the annotation with the key
	 * @param text the expression as written
	 */
	record Part(SpelExpression expression, LockOperation operation, String text) {

		private static final Set<SpelMessage> ON_NULL = EnumSet.of(SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL,
				SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED, SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE);

		/** The end of a remedy for a call that names no key. */
		private static final String UNLOCKED = ". Where such calls need no lock,"
				+ " use LockTemplate.execute inside an if, instead of the annotation";

		/** The text of one value. */
		private String text(EvaluationContext context, boolean joined) {
			Object value = value(context);
			if (joined && LockKeys.isCollection(value)) {
				throw error("it gives a collection, which is joined as a whole",
						"Join each element, as in " + this.text + ".!['order:' + #this]", null);
			}
			return text(value);
		}

		/** The text of a value, or those of its elements. */
		private List<String> texts(EvaluationContext context) {
			Object value = value(context);
			if (value instanceof Optional<?> optional) {
				value = optional.orElse(null);
			}
			if (!LockKeys.isCollection(value)) {
				return List.of(text(value));
			}
			if (value instanceof byte[] || value instanceof char[]) {
				throw error("it gives a " + value.getClass().getSimpleName() + ", which is not text",
						"Make a text of it, such as its hexadecimal form", null);
			}
			List<String> texts = new ArrayList<>();
			for (Object element : (value instanceof Iterable<?> elements) ? elements
					: CollectionUtils.arrayToList(value)) {
				if (element == null) {
					throw error("it gives null among its elements",
							"Leave null elements out, as in " + this.text + ".?[#this != null]", null);
				}
				texts.add(text(element));
			}
			if (texts.isEmpty()) {
				throw error("it gives an empty collection, and there is nothing to lock",
						"Do not call the method then" + UNLOCKED, null);
			}
			return texts;
		}

		private String text(@Nullable Object value) {
			return LockKeys.text(value, "Give it a value before the call" + UNLOCKED,
					(problem, remedy) -> error("it gives " + problem, remedy, null));
		}

		private @Nullable Object value(EvaluationContext context) {
			try {
				return this.expression.getValue(context);
			}
			catch (EvaluationException ex) {
				if (ex instanceof SpelEvaluationException failure && ON_NULL.contains(failure.getMessageCode())) {
					throw error("it reads a value of null: " + ex.getMessage(),
							"Give it a value before the call" + UNLOCKED, ex);
				}
				throw error("it cannot be evaluated: " + ex.getMessage(),
						"Correct the expression, or give the call what it reads" + UNLOCKED, ex);
			}
		}

		private IllegalArgumentException error(String problem, String remedy, @Nullable Throwable cause) {
			String where = (this.operation.key().equals(this.text)) ? problem : this.text + ": " + problem;
			return this.operation.refused(where, remedy, cause);
		}

	}

	/**
	 * The context of the expressions of one call: the arguments under their names. For
	 * one thread.
	 * <p>
	 * Spring's own context for methods copies all arguments into a map, under three names
	 * each, at every call; this one has found out beforehand which name stands for which
	 * argument.
	 */
	private final class CallContext extends StandardEvaluationContext {

		private final @Nullable Object[] arguments;

		CallContext(@Nullable Object target, @Nullable Object[] arguments) {
			super(new Root(LockKeyExpression.this.operation.method(), target, arguments));
			this.arguments = arguments;
			setPropertyAccessors(LockKeyExpression.this.shared.properties);
			setTypeLocator(LockKeyExpression.this.shared.types);
			setBeanResolver(LockKeyExpression.this.shared.beans);
		}

		@Override
		public @Nullable Object lookupVariable(String name) {
			Integer position = LockKeyExpression.this.positions.get(name);
			return (position != null) ? this.arguments[position] : null;
		}

		/**
		 * Evaluating a key changes nothing, neither a variable nor the argument's
		 * properties.
		 */
		@Override
		public boolean isAssignmentEnabled() {
			return false;
		}

	}

	/**
	 * The root object of an expression, {@code #root}.
	 *
	 * @param method the method
	 * @param target the object that the method is called on
	 * @param args the arguments
	 */
	record Root(Method method, @Nullable Object target, @Nullable Object[] args) {
	}

	/**
	 * The parts that the calls of all methods share. Immutable and thread-safe.
	 *
	 * @param beans finds the beans that expressions name
	 * @param types finds the classes that they name
	 * @param properties reads properties, and remembers what reflection has found
	 */
	record Shared(BeanResolver beans, TypeLocator types, List<PropertyAccessor> properties) {
	}

}
