package io.github.lockspring.internal.interceptor;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.NativeDetector;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ExpressionParser;
import org.springframework.expression.ParseException;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.expression.spel.support.StandardTypeLocator;

/**
 * Parses and checks the expressions of annotations, once for each method. Thread-safe.
 */
final class LockExpressionParser {

	private static final TemplateParserContext TEMPLATE = new TemplateParserContext();

	private final ConfigurableBeanFactory beanFactory;

	private final ParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();

	private final ExpressionParser parser;

	private final LockEvaluationContext.Shared shared;

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
		this.parser = new SpelExpressionParser(new SpelParserConfiguration(
				NativeDetector.inNativeImage() ? SpelCompilerMode.OFF : SpelCompilerMode.MIXED, classLoader));
		this.shared = new LockEvaluationContext.Shared(new BeanFactoryResolver(beanFactory),
				new StandardTypeLocator(classLoader), List.of(new ReflectivePropertyAccessor(false)));
	}

	/**
	 * Parses and checks a key.
	 * @param operation the operation
	 * @return the key
	 * @throws io.github.lockspring.LockDefinitionException if it is wrong
	 */
	LockKeyExpression parseKey(LockOperation operation) {
		String start = prefix(operation.name());
		String key = operation.key();
		if (key.isEmpty()) {
			return LockKeyExpression.constant(start + defaultKey(operation));
		}
		Expression parsed = parse(operation, "key", key);
		Expression[] parts = (parsed instanceof CompositeStringExpression composite) ? composite.getExpressions()
				: new Expression[] { parsed };
		LockExpressionValidator validator = validator(operation, "key", key);
		for (Expression part : parts) {
			if (part instanceof SpelExpression expression) {
				validator.validate(expression);
			}
		}
		if (parsed instanceof SpelExpression expression && LockExpressionValidator.isText(expression.getAST())) {
			return LockKeyExpression
				.constant(start + new LockKeyValues(operation, key).texts(expression.getValue()).get(0));
		}
		return LockKeyExpression.of(operation, start, parts);
	}

	/**
	 * Parses and checks a condition.
	 * @param operation the operation
	 * @return the condition, or null if there is none
	 * @throws io.github.lockspring.LockDefinitionException if it is wrong
	 */
	@Nullable Expression parseCondition(LockOperation operation) {
		String condition = operation.condition();
		if (condition.isBlank()) {
			return null;
		}
		Expression parsed = parse(operation, "condition", condition);
		if (!(parsed instanceof SpelExpression expression)) {
			throw operation.error("condition", condition, "it is a template, which gives a text",
					"Write one expression that is true or false");
		}
		validator(operation, "condition", condition).validate(expression);
		return expression;
	}

	private LockExpressionValidator validator(LockOperation operation, String attribute, String value) {
		return new LockExpressionValidator(operation, attribute, value,
				this.parameterNames.getParameterNames(operation.annotated().declared()),
				this.beanFactory::containsBean);
	}

	private Expression parse(LockOperation operation, String attribute, String text) {
		try {
			return (text.contains(TEMPLATE.getExpressionPrefix())) ? this.parser.parseExpression(text, TEMPLATE)
					: this.parser.parseExpression(text);
		}
		catch (ParseException | IllegalStateException | IllegalArgumentException ex) {
			String mixed = LockExpressionValidator.mixed(text);
			throw operation.annotated()
				.error(attribute, text, "it is no valid expression: " + ex.getMessage(),
						(mixed != null && "key".equals(attribute)) ? mixed
								: "Write SpEL, as in \"#order.id\"; text around a value is a template, as in"
										+ " \"order:#{#order.id}\"",
						ex);
		}
	}

	/**
	 * Escapes characters of a name that have a meaning in the key: the name {@code a:b}
	 * before {@code c} must not equal {@code a} before {@code b:c}.
	 */
	private static String prefix(String name) {
		return (name.isEmpty()) ? "" : LockKeyExpression.escape(name, (c) -> c == '%' || c == ':') + ':';
	}

	private static String defaultKey(LockOperation operation) {
		return Arrays.stream(operation.method().getParameterTypes())
			.map(Class::getTypeName)
			.collect(Collectors.joining(",", operation.type().getName() + '.' + operation.method().getName() + '(',
					")"));
	}

	/**
	 * Creates what makes the contexts of a method's calls.
	 * @param operation the operation
	 * @return the factory
	 */
	LockEvaluationContext.Factory contexts(LockOperation operation) {
		return new LockEvaluationContext.Factory(operation.method(),
				LockEvaluationContext.positions(operation.method().getParameterCount(),
						this.parameterNames.getParameterNames(operation.annotated().declared())),
				this.shared);
	}

}
