package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Member;
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

	private final LockOperation operation;

	private final @Nullable List<@Nullable String> parameterNames;

	private final Map<String, Integer> positions;

	private final Predicate<String> beans;

	private boolean variable;

	LockExpressionValidator(LockOperation operation, @Nullable String @Nullable [] parameterNames,
			Map<String, Integer> positions, Predicate<String> beans) {
		this.operation = operation;
		this.parameterNames = (parameterNames != null) ? Arrays.<@Nullable String>asList(parameterNames) : null;
		this.positions = positions;
		this.beans = beans;
	}

	void validate(SpelExpression expression) {
		SpelNode ast = expression.getAST();
		visit(ast, true);
		if (!this.variable && !isText(ast)) {
			throw this.operation.error("it is a constant, but not text in quotes", StringUtils.capitalize(quote()));
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
			throw this.operation.error(node.toStringAST() + " is a function, and there are none",
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
		visit(node.getChild(0), root);
		if (node.getChild(0) instanceof VariableReference variable
				&& node.getChild(1) instanceof PropertyOrFieldReference property) {
			checkProperty(variable.toStringAST(), property.getName());
		}
		for (int i = 1; i < node.getChildCount(); i++) {
			// Names after a dot belong to what is before it; arguments start anew
			visitChildren(node.getChild(i), root);
		}
	}

	/**
	 * Checks the property that is read from a variable, as far as its type is known: the
	 * object behind an interface or an abstract class may have any property, and of a
	 * Class the static fields of the class that it stands for can be read.
	 */
	private void checkProperty(String variable, String property) {
		Integer position = this.positions.get(variable.substring(1));
		Method method = this.operation.method();
		Class<?> type = (position == null) ? Object.class
				: ResolvableType.forMethodParameter(method, position, this.operation.type()).toClass();
		if (variable.equals("#root")) {
			type = LockKeyExpression.Root.class;
		}
		if (!Modifier.isAbstract(type.getModifiers()) && !OPAQUE.contains(type)
				&& Stream.of(type.getMethods(), type.getFields())
					.flatMap(Stream::of)
					.noneMatch((member) -> isProperty(member, property))) {
			throw this.operation.error(variable + " has no property '" + property + "'",
					variable.equals("#root") ? "Use #root.method, #root.target or #root.args"
							: "Correct the name. One that only a subclass has needs a method of a bean, as in @keys.of("
									+ variable + ")");
		}
	}

	/** Returns whether an expression may read or call a member under a name. */
	static boolean isProperty(Member member, String name) {
		return Stream.of("", "get", "is")
			.anyMatch((prefix) -> member.getName().equals(prefix + name)
					|| member.getName().equals(prefix + StringUtils.capitalize(name)));
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
			throw this.operation.error(
					"there is no parameter '" + name + "': the names of the parameters are not in the class file",
					"Compile with -parameters, or write #p0 for the first parameter");
		}
		List<String> names = this.parameterNames.stream().map(String::valueOf).toList();
		String parameters = (names.isEmpty()) ? "The method has no parameters"
				: Suggestions.name(name, names).map("Did you mean '#%s'? "::formatted).orElse("")
						+ "The parameters are "
						+ names.stream().map((parameter) -> "#" + parameter).collect(Collectors.joining(", "));
		throw this.operation
			.error("there is no parameter '" + name + "'", this.operation.annotated().direct() ? parameters
					: parameters + ". The annotation covers all public methods of its class: annotate methods instead");
	}

	private void checkBean(String name) {
		this.variable = true;
		if (!this.beans.test(name)) {
			throw this.operation.error("there is no bean '" + name + "'", "Write the name of a bean after the @");
		}
	}

	private LockDefinitionException bareName(SpelNode node) {
		String name = (node instanceof PropertyOrFieldReference property) ? property.getName()
				: ((MethodReference) node).getName();
		String problem = "'" + node.toStringAST() + "' would be read from the root object";
		String mixed = mixed(this.operation.key());
		if (mixed != null) {
			return this.operation.error(problem, mixed);
		}
		if (this.parameterNames != null && this.parameterNames.contains(name)) {
			return this.operation.error(problem, "Did you mean #" + name + "?");
		}
		return this.operation.error(problem, (ROOT.contains(name)) ? "Did you mean #root." + name + "?"
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

}
