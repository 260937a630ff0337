package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.internal.aop.Suggestions;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.QualifiedIdentifier;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Refuses an expression whose syntax tree shows that it cannot mean what its author
 * intends.
 * <p>
 * A property or method without anything in front of it is looked up on the root object,
 * which has nothing that belongs into a key: it is a forgotten {@code #}, or text without
 * quotes.
 */
final class LockExpressionValidator {

	private static final Set<String> ROOT = Set.of("method", "target", "args");

	private static final Set<Class<?>> OPAQUE = Set.of(Object.class, Optional.class, Class.class);

	/** Text, and then a parameter. */
	private static final Pattern MIXED = Pattern.compile("([\\w:./ -]*[:./ -])(#\\w[\\w.?()]*)");

	static final PropertyTypes PROPERTIES = new PropertyTypes();

	private final LockOperation operation;

	private final @Nullable List<@Nullable String> parameterNames;

	private final Map<String, Integer> positions;

	private final Predicate<String> beans;

	private boolean variable;

	LockExpressionValidator(LockOperation operation, @Nullable String @Nullable [] parameterNames,
			Predicate<String> beans) {
		this.operation = operation;
		this.parameterNames = (parameterNames != null) ? Arrays.<@Nullable String>asList(parameterNames) : null;
		this.positions = LockEvaluationContext.positions(operation.method().getParameterCount(), parameterNames);
		this.beans = beans;
	}

	void validate(SpelExpression expression) {
		SpelNode ast = expression.getAST();
		visit(ast, true);
		if (!this.variable && !isText(ast)) {
			throw error("it is a constant, but no text in quotes", StringUtils.capitalize(quote()));
		}
	}

	static boolean isText(SpelNode node) {
		return node instanceof StringLiteral || (node instanceof OpPlus && node.getChildCount() == 2
				&& isText(node.getChild(0)) && isText(node.getChild(1)));
	}

	/**
	 * Visits a node and what is below it.
	 * @param node the node
	 * @param root whether a bare name here is looked up on the root object, and not on an
	 * element of a collection
	 */
	private void visit(SpelNode node, boolean root) {
		if (node instanceof VariableReference) {
			checkVariable(node.toStringAST().substring(1));
		}
		else if (node instanceof FunctionReference) {
			throw error(node.toStringAST() + " is a function, and there are none",
					"Call a method of a parameter, of a bean (@bean.method()) or of a class (T(type).method())");
		}
		else if (node instanceof BeanReference bean) {
			checkBean(bean.getName());
		}
		else if (root && (node instanceof PropertyOrFieldReference || node instanceof MethodReference)) {
			throw bareName(node);
		}
		else if (node instanceof CompoundExpression) {
			visitCompound(node, root);
		}
		else if (node instanceof TypeReference) {
			this.variable = true;
		}
		else {
			this.variable |= node instanceof ConstructorReference;
			visitChildren(node, root);
		}
	}

	private void visitCompound(SpelNode node, boolean root) {
		SpelNode first = node.getChild(0);
		visit(first, root);
		if (root && first instanceof VariableReference && "#root".equals(first.toStringAST())
				&& node.getChild(1) instanceof PropertyOrFieldReference property) {
			checkRootProperty(property.getName());
		}
		checkProperties(node);
		for (int i = 1; i < node.getChildCount(); i++) {
			// Names after a dot belong to what is before it; arguments start anew
			visitChildren(node.getChild(i), root);
		}
	}

	/**
	 * Checks the properties that are read one after another from a parameter, as far as
	 * their types are known: what is an interface or abstract may be anything, and of a
	 * Class the static fields of the class that it stands for can be read.
	 */
	private void checkProperties(SpelNode node) {
		Integer position = (node.getChild(0) instanceof VariableReference variable)
				? this.positions.get(variable.toStringAST().substring(1)) : null;
		Method method = this.operation.method();
		if (position == null || position >= method.getParameterCount()) {
			return;
		}
		ResolvableType type = ResolvableType.forMethodParameter(method, position, this.operation.type());
		for (int i = 1; i < node.getChildCount()
				&& node.getChild(i) instanceof PropertyOrFieldReference property; i++) {
			Class<?> owner = type.toClass();
			if (Modifier.isAbstract(owner.getModifiers()) || OPAQUE.contains(owner)) {
				return;
			}
			ResolvableType read = PROPERTIES.read(type, property.getName());
			if (read == null) {
				throw error(owner.getSimpleName() + " has no property '" + property.getName() + "'",
						meant(property.getName(), PropertyTypes.names(owner), "") + "Its properties are "
								+ String.join(", ", PropertyTypes.names(owner))
								+ ". One that only a subclass has needs a method of a bean, as in @keys.of("
								+ node.getChild(0).toStringAST() + ")");
			}
			type = read;
		}
	}

	private static String meant(String wrong, List<String> known, String prefix) {
		return Suggestions.name(wrong, known).map((name) -> "Did you mean '" + prefix + name + "'? ").orElse("");
	}

	private void checkRootProperty(String name) {
		if (!ROOT.contains(name)) {
			throw error("#root has no property '" + name + "'", "Use #root.method, #root.target or #root.args");
		}
	}

	private void visitChildren(SpelNode node, boolean root) {
		boolean onRoot = root && !(node instanceof Projection || node instanceof Selection);
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			boolean name = child instanceof QualifiedIdentifier
					|| ((node instanceof Indexer || (node instanceof InlineMap && i % 2 == 0))
							&& child instanceof PropertyOrFieldReference);
			if (!name) {
				visit(child, onRoot);
			}
		}
	}

	private void checkVariable(String name) {
		this.variable = true;
		if (name.equals("root") || name.equals("this") || this.positions.containsKey(name)) {
			return;
		}
		if (this.parameterNames == null) {
			throw error("there is no parameter '" + name + "': the names of the parameters are not in the class file",
					"Compile with -parameters, or write #p0 for the first parameter");
		}
		List<String> names = this.parameterNames.stream().map(String::valueOf).toList();
		String parameters = (names.isEmpty()) ? "The method has no parameters"
				: meant(name, names, "#") + "The parameters are "
						+ names.stream().map((parameter) -> "#" + parameter).collect(Collectors.joining(", "));
		throw error("there is no parameter '" + name + "'", this.operation.annotated().direct() ? parameters
				: parameters + ". The annotation covers all public methods of its class: annotate methods instead");
	}

	private void checkBean(String name) {
		this.variable = true;
		if (!this.beans.test(name)) {
			throw error("there is no bean '" + name + "'", "Write the name of a bean after the @");
		}
	}

	private LockDefinitionException bareName(SpelNode node) {
		String name = (node instanceof PropertyOrFieldReference property) ? property.getName()
				: ((MethodReference) node).getName();
		String problem = "'" + node.toStringAST() + "' would be read from the root object";
		String mixed = mixed(this.operation.key());
		if (mixed != null) {
			return error(problem, mixed);
		}
		if (this.parameterNames != null && this.parameterNames.contains(name)) {
			return error(problem, "Did you mean #" + name + "?");
		}
		return error(problem, (ROOT.contains(name)) ? "Did you mean #root." + name + "?"
				: "Write # before the name of a parameter. If it is text, " + quote());
	}

	/**
	 * Suggests how to write text before a value.
	 * @param key a key such as {@code order-#id}
	 * @return a sentence, or null if the key does not look like that
	 */
	static @Nullable String mixed(String key) {
		Matcher mixed = MIXED.matcher(key);
		return !mixed.matches() ? null : "If '%s' is text, write key = \"%s + %s\"".formatted(mixed.group(1),
				quoted(mixed.group(1)), mixed.group(2));
	}

	static String quoted(String text) {
		return '\'' + text.replace("'", "''") + '\'';
	}

	private String quote() {
		return "quote it: key = \"" + quoted(this.operation.key())
				+ "\". Text and values are joined with +, as in \"'order-' + #order.id\"";
	}

	private LockDefinitionException error(String problem, String remedy) {
		return this.operation.error(problem, remedy);
	}

	/**
	 * The properties that expressions read, found as SpEL itself finds them.
	 */
	static final class PropertyTypes extends ReflectivePropertyAccessor {

		private static final Pattern GETTER = Pattern.compile("(?:get|is)(\\p{Lu}.*)");

		private PropertyTypes() {
			super(false);
		}

		@Nullable ResolvableType read(ResolvableType type, String property) {
			Class<?> owner = type.toClass();
			Method getter = findGetterForProperty(property, owner, false);
			if (getter != null) {
				return ResolvableType.forType(getter.getGenericReturnType(), type.as(getter.getDeclaringClass()));
			}
			Field field = findField(property, owner, false);
			return (field != null) ? ResolvableType.forType(field.getGenericType(), type.as(field.getDeclaringClass()))
					: null;
		}

		static List<String> names(Class<?> owner) {
			Stream<String> methods = Arrays.stream(owner.getMethods())
				.filter((method) -> isGetter(method)
						&& (owner.isRecord() || GETTER.matcher(method.getName()).matches()))
				.map(PropertyTypes::name);
			return Stream.concat(methods, Arrays.stream(owner.getFields()).map(Field::getName))
				.distinct()
				.sorted()
				.toList();
		}

		private static boolean isGetter(Method method) {
			return method.getParameterCount() == 0 && method.getReturnType() != void.class
					&& !Modifier.isStatic(method.getModifiers()) && method.getDeclaringClass() != Object.class
					&& !ReflectionUtils.isObjectMethod(method);
		}

		private static String name(Method method) {
			Matcher getter = GETTER.matcher(method.getName());
			return getter.matches() ? StringUtils.uncapitalizeAsProperty(getter.group(1)) : method.getName();
		}

	}

}
