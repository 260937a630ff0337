package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.BeanResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * What the expressions of one call see: the arguments under their names. For one thread.
 * <p>
 * Spring's own context for methods copies all arguments into a map, under three names
 * each, at every call; this one knows beforehand which name stands for which argument.
 */
final class LockEvaluationContext extends StandardEvaluationContext {

	private final Map<String, Integer> positions;

	private final @Nullable Object[] arguments;

	private LockEvaluationContext(Factory method, @Nullable Object target, @Nullable Object[] arguments) {
		super(new Root(method.method, target, arguments));
		this.positions = method.positions;
		this.arguments = arguments;
		setPropertyAccessors(method.shared.properties);
		setTypeLocator(method.shared.types);
		setBeanResolver(method.shared.beans);
	}

	/**
	 * The positions of a method's arguments by their names: {@code p0}, {@code a0} and,
	 * if it is known, the parameter's name, which wins over both.
	 * @param count how many parameters there are
	 * @param names their names, or null
	 * @return an immutable map
	 */
	static Map<String, Integer> positions(int count, @Nullable String @Nullable [] names) {
		Map<String, Integer> positions = new HashMap<>();
		for (int i = 0; i < count; i++) {
			positions.put("a" + i, i);
			positions.put("p" + i, i);
		}
		// After all aliases: the first parameter may be named p1
		for (int i = 0; names != null && i < count; i++) {
			String name = names[i];
			if (name != null) {
				positions.put(name, i);
			}
		}
		return Map.copyOf(positions);
	}

	@Override
	public @Nullable Object lookupVariable(String name) {
		Integer position = this.positions.get(name);
		return (position != null) ? this.arguments[position] : null;
	}

	/**
	 * Evaluating a key changes nothing, neither a variable nor the argument's properties.
	 */
	@Override
	public boolean isAssignmentEnabled() {
		return false;
	}

	/**
	 * Creates the contexts of the calls of a method. Immutable and thread-safe.
	 *
	 * @param method the method
	 * @param positions the positions of its arguments by their names
	 * @param shared what all methods have in common
	 */
	record Factory(Method method, Map<String, Integer> positions, Shared shared) {

		/**
		 * Creates the context of a call.
		 * @param target the object that the method is called on
		 * @param arguments the arguments
		 * @return the context
		 */
		EvaluationContext create(@Nullable Object target, @Nullable Object[] arguments) {
			return new LockEvaluationContext(this, target, arguments);
		}

	}

	/**
	 * What the calls of all methods share. Immutable and thread-safe.
	 *
	 * @param beans finds the beans that expressions name
	 * @param types finds the classes that they name
	 * @param properties reads properties, and remembers what reflection has found
	 */
	record Shared(BeanResolver beans, TypeLocator types, List<PropertyAccessor> properties) {
	}

	/**
	 * What {@code #root} stands for in an expression.
	 *
	 * @param method the method
	 * @param target the object that the method is called on
	 * @param args the arguments
	 */
	record Root(Method method, @Nullable Object target, @Nullable Object[] args) {
	}

}
