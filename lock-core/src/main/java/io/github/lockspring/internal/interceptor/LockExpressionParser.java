package io.github.lockspring.internal.interceptor;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.lockspring.internal.base.LockKeys;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.NativeDetector;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.expression.spel.support.StandardTypeLocator;

/**
 * Parses and checks the keys of annotations, once for each method. Thread-safe.
 */
final class LockExpressionParser {

	private final ConfigurableBeanFactory beanFactory;

	private final ParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();

	private final SpelParserConfiguration configuration;

	private final SpelExpressionParser parser;

	private final LockKeyExpression.Shared shared;

	/**
	 * Creates a parser.
	 * @param beanFactory holds the beans that expressions name
	 */
	LockExpressionParser(ConfigurableBeanFactory beanFactory) {
		ClassLoader classLoader = beanFactory.getBeanClassLoader();
		this.beanFactory = beanFactory;
		// MIXED and not IMMEDIATE: compiled code expects the types of the first calls,
		// and only MIXED goes back to interpreting when others come. A native image
		// cannot define classes
		this.configuration = new SpelParserConfiguration(
				NativeDetector.inNativeImage() ? SpelCompilerMode.OFF : SpelCompilerMode.MIXED, classLoader);
		this.parser = new SpelExpressionParser(this.configuration);
		this.shared = new LockKeyExpression.Shared(new BeanFactoryResolver(beanFactory),
				new StandardTypeLocator(classLoader), List.of(new ReflectivePropertyAccessor(false)));
	}

	/**
	 * Parses and checks a key.
	 * @param operation the operation
	 * @return the key
	 * @throws io.github.lockspring.LockDefinitionException if it is wrong
	 */
	LockKeyExpression parseKey(LockOperation operation) {
		String start = LockKeys.prefix(operation.name());
		String key = operation.key();
		if (key.isEmpty()) {
			return LockKeyExpression.ofText(operation, start + defaultKey(operation), this.shared);
		}
		SpelExpression expression = parse(operation, key);
		@Nullable String @Nullable [] names = this.parameterNames.getParameterNames(operation.annotated().declared());
		Map<String, Integer> positions = positions(operation.method().getParameterCount(), names);
		new LockExpressionValidator(operation, names, positions, this.beanFactory::containsBean).validate(expression);
		SpelNode root = expression.getAST();
		if (LockExpressionValidator.isText(root)) {
			return LockKeyExpression.ofText(operation, start + text(expression, operation), this.shared);
		}
		Stream<SpelNode> texts = (root instanceof InlineList) ? children(root) : Stream.of(root);
		return new LockKeyExpression(operation, start,
				texts.map((text) -> operands(text).map((node) -> part(node, expression, operation)).toList()).toList(),
				positions, this.shared, null);
	}

	/**
	 * The positions of a method's arguments by their names: {@code p0}, {@code a0} and,
	 * if it is known, the parameter's name, which wins over both.
	 */
	private static Map<String, Integer> positions(int count, @Nullable String @Nullable [] names) {
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

	private static String text(SpelExpression expression, LockOperation operation) {
		String text = String.valueOf(expression.getValue());
		if (text.isEmpty()) {
			throw operation.error("it is an empty text",
					"Name what is locked, or leave the key out to lock the method itself");
		}
		return text;
	}

	private static Stream<SpelNode> children(SpelNode node) {
		return IntStream.range(0, node.getChildCount()).mapToObj(node::getChild);
	}

	/**
	 * Returns the operands of a text: with text on one side, a plus does not add numbers.
	 */
	private static Stream<SpelNode> operands(SpelNode node) {
		return isJoined(node) ? children(node).flatMap(LockExpressionParser::operands) : Stream.of(node);
	}

	private static boolean isJoined(SpelNode node) {
		return node instanceof OpPlus && node.getChildCount() == 2
				&& children(node).anyMatch((each) -> each instanceof StringLiteral || isJoined(each));
	}

	private LockKeyExpression.Part part(SpelNode node, SpelExpression whole, LockOperation operation) {
		return (node == whole.getAST()) ? new LockKeyExpression.Part(whole, operation, operation.key())
				: new LockKeyExpression.Part(
						new SpelExpression(node.toStringAST(), (SpelNodeImpl) node, this.configuration), operation,
						node.toStringAST());
	}

	private SpelExpression parse(LockOperation operation, String key) {
		try {
			return this.parser.parseRaw(key);
		}
		catch (ParseException | IllegalStateException | IllegalArgumentException ex) {
			if (key.contains("#{")) {
				throw operation.error("it is a template, and a key is one expression",
						"Write the expression itself, and join text to it with +: key = \"'order:' + #order.id\"", ex);
			}
			String mixed = LockExpressionValidator.mixed(key);
			throw operation.error("it is not a valid expression: " + ex.getMessage(),
					(mixed != null) ? mixed : "Write SpEL, as in \"#order.id\" or \"'order:' + #order.id\"", ex);
		}
	}

	private static String defaultKey(LockOperation operation) {
		return Arrays.stream(operation.method().getParameterTypes())
			.map(Class::getTypeName)
			.collect(Collectors.joining(",", operation.type().getName() + '.' + operation.method().getName() + '(',
					")"));
	}

}
