package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.github.lockspring.LockDefinitionException;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.IntLiteral;
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

	private final LockOperation operation;

	private final String attribute;

	private final String value;

	private final @Nullable List<@Nullable String> parameterNames;

	private final Map<String, Integer> positions;

	private final Predicate<String> beans;

	private boolean variable;

	LockExpressionValidator(LockOperation operation, String attribute, String value,
			@Nullable String @Nullable [] parameterNames, Predicate<String> beans) {
		this.operation = operation;
		this.attribute = attribute;
		this.value = value;
		this.parameterNames = (parameterNames != null) ? Arrays.<@Nullable String>asList(parameterNames) : null;
		this.positions = LockEvaluationContext.positions(operation.method().getParameterCount(), parameterNames);
		this.beans = beans;
	}

	void validate(SpelExpression expression) {
		this.variable = false;
		SpelNode ast = expression.getAST();
		visit(ast, true);
		if ("key".equals(this.attribute) && !this.variable && !isText(ast)) {
			throw error("it is a constant, but no text in quotes", quote());
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
			checkRootProperty(property.getName(), (node.getChildCount() > 2) ? node.getChild(2) : null);
		}
		for (int i = 1; i < node.getChildCount(); i++) {
			// Names after a dot belong to what is before it; arguments start anew
			visitChildren(node.getChild(i), root);
		}
	}

	private void checkRootProperty(String name, @Nullable SpelNode next) {
		if (!ROOT.contains(name)) {
			throw error("#root has no property '" + name + "'", "Use #root.method, #root.target or #root.args");
		}
		if ("args".equals(name) && next instanceof Indexer && next.getChild(0) instanceof IntLiteral index
				&& index.getLiteralValue().getValue() instanceof Integer position) {
			checkNotToken("#root.args" + next.toStringAST(), position);
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
		if (name.equals("root") || name.equals("this")) {
			return;
		}
		Integer position = this.positions.get(name);
		if (position != null) {
			checkNotToken('#' + name, position);
			return;
		}
		if (this.parameterNames == null) {
			throw error("there is no parameter '" + name + "': the names of the parameters are not in the class file",
					"Compile with -parameters, or write #p0 for the first parameter");
		}
		throw error("there is no parameter '" + name + "'",
				(this.parameterNames.isEmpty()) ? "The method has no parameters"
						: "The parameters are " + this.parameterNames.stream()
							.map((parameter) -> "#" + parameter)
							.collect(Collectors.joining(", ")));
	}

	/** There is no token before there is a lock, and no lock before there is a key. */
	private void checkNotToken(String expression, int position) {
		Method method = this.operation.method();
		if (position < method.getParameterCount()
				&& FencingTokenParameter.isToken(method, position, this.operation.type())) {
			throw error(expression + " is the token of the lock, which does not exist before the lock is taken",
					"Use other parameters");
		}
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
		if (this.parameterNames != null && this.parameterNames.contains(name)) {
			return error(problem, "Did you mean #" + name + "?");
		}
		if (ROOT.contains(name)) {
			return error(problem, "Did you mean #root." + name + "?");
		}
		String remedy = "Write # before the name of a parameter";
		return error(problem, "key".equals(this.attribute) ? remedy + ". If it is text, " + quote() : remedy);
	}

	private String quote() {
		return "quote it: " + this.attribute + " = \"'" + this.value.replace("'", "''")
				+ "'\". Text around a value is a template, as in \"order-#{#order.id}\"";
	}

	private LockDefinitionException error(String problem, String remedy) {
		return this.operation.error(this.attribute, this.value, problem, remedy);
	}

}
