package io.github.lockspring.internal.interceptor;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.internal.aop.AnnotatedMethod;
import io.github.lockspring.internal.aop.AnnotatedMethodPointcut;
import io.github.lockspring.internal.aop.AnnotatedMethods;
import io.github.lockspring.internal.aop.AnnotationModel;
import io.github.lockspring.internal.aop.BeanFactoryInspector;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;

/**
 * Reads the {@link DistributedLock} annotations of methods. No call runs with an
 * annotation that has not passed all checks, since only this class creates a
 * {@link LockedMethod}. Thread-safe.
 */
final class LockOperationSource {

	private static final AnnotationModel MODEL = new AnnotationModel(DistributedLock.class, "key",
			"would run without the lock", "use LockTemplate");

	private final AnnotatedMethods<LockedMethod> methods = new AnnotatedMethods<>(MODEL, this::read);

	/** The labels of all locks, as far as they have been read. */
	private final Set<String> names = ConcurrentHashMap.newKeySet();

	private final BeanFactoryInspector inspector;

	private final Function<String, @Nullable String> placeholders;

	private final LockExpressionParser expressions;

	/**
	 * Creates a source.
	 * @param beanFactory resolves placeholders and holds the beans that expressions name
	 */
	LockOperationSource(ConfigurableBeanFactory beanFactory) {
		this.inspector = new BeanFactoryInspector(beanFactory);
		this.placeholders = beanFactory::resolveEmbeddedValue;
		this.expressions = new LockExpressionParser(beanFactory);
	}

	AnnotatedMethodPointcut pointcut() {
		return new AnnotatedMethodPointcut(this.methods, this.inspector::usesClassProxies);
	}

	/**
	 * Returns the annotated methods, each with what is known about it.
	 */
	AnnotatedMethods<LockedMethod> methods() {
		return this.methods;
	}

	/**
	 * Returns the labels of the locks of all methods that have been read.
	 */
	Set<String> names() {
		return Set.copyOf(this.names);
	}

	private LockedMethod read(AnnotatedMethod method, Class<?> userClass) {
		LockOperation operation = new LockOperationParser(method, this.placeholders).parse();
		ReturnTypeValidator.Values values = new ReturnTypeValidator(this.inspector).validate(operation, userClass);
		LockKeyExpression key = this.expressions.parseKey(operation);
		this.names.add(operation.label());
		return new LockedMethod(operation, key, SkippedResult.of(operation, userClass), values);
	}

}
