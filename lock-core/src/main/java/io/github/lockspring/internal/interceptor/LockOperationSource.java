package io.github.lockspring.internal.interceptor;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
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
import org.springframework.core.annotation.MergedAnnotation;

/**
 * Reads the {@link DistributedLock} annotations of methods. No call runs with an
 * annotation that has not passed all checks, since only this class creates a
 * {@link LockedMethod}. Thread-safe.
 */
final class LockOperationSource {

	private static final AnnotationModel<DistributedLock> MODEL = new AnnotationModel<>(DistributedLock.class, "key",
			"would run without the lock", "use LockTemplate");

	private final AnnotatedMethods<DistributedLock, LockedMethod> methods = new AnnotatedMethods<>(MODEL, this::read);

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
	AnnotatedMethods<DistributedLock, LockedMethod> methods() {
		return this.methods;
	}

	/**
	 * Returns the labels of the locks of all methods that have been read.
	 */
	Set<String> names() {
		return Set.copyOf(this.names);
	}

	private LockedMethod read(AnnotatedMethod method, Class<?> userClass,
			List<MergedAnnotation<DistributedLock>> annotations) {
		List<LockOperation> operations = annotations.stream()
			.map((annotation) -> new LockOperationParser(annotation, method, this.placeholders).parse())
			.toList();
		LockOperation first = operations.get(0);
		ReturnTypeValidator.Values values = new ReturnTypeValidator(this.inspector).validate(first, userClass);
		List<LockedMethod.Lock> locks = new ArrayList<>(operations.size());
		for (LockOperation operation : operations) {
			locks.add(LockedMethod.Lock.of(operation, this.expressions.parseKey(operation),
					this.expressions.parseCondition(operation)));
		}
		if (locks.size() > 1) {
			checkRepeated(locks);
		}
		locks.stream().map((lock) -> lock.operation().lock().name()).filter(Objects::nonNull).forEach(this.names::add);
		return new LockedMethod(List.copyOf(locks), this.expressions.contexts(first),
				FencingTokenParameter.of(operations), BusyHandlerFactory.create(first, userClass), values);
	}

	private static void checkRepeated(List<LockedMethod.Lock> locks) {
		LockOperation first = locks.get(0).operation();
		Set<String> keys = new HashSet<>();
		for (LockedMethod.Lock lock : locks) {
			LockOperation operation = lock.operation();
			checkSame("onBusy", first, operation, (each) -> each.onBusy().name());
			checkSame("fallback", first, operation, LockOperation::fallback);
			checkSame("onLost", first, operation, (each) -> each.request().onLost().name());
			String constant = lock.key().constantKey();
			String key = (constant != null) ? constant : operation.name() + '\n' + operation.key();
			// With conditions, a call may lock the same key in one way or another
			if (lock.condition() == null && !keys.add(key)) {
				throw operation.error("repeated annotations name the same key twice",
						"Leave one of them out, or give each a condition");
			}
		}
	}

	private static void checkSame(String attribute, LockOperation first, LockOperation other,
			Function<LockOperation, String> value) {
		if (!Objects.equals(value.apply(first), value.apply(other))) {
			throw other.error(attribute, value.apply(other),
					"repeated annotations are taken together, and another one says \"" + value.apply(first) + '"',
					"Write the same " + attribute + " in each");
		}
	}

}
