package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;

/**
 * Gives each annotated method its {@link LockedMethod}. No call runs with an annotation
 * that has not passed all checks, since this is the only way to one.
 * <p>
 * Thread-safe: the cache is filled by whoever asks first; working out the same method
 * twice does no harm.
 */
final class LockedMethods {

	private final Map<MethodClassKey, Optional<LockedMethod>> methods = new ConcurrentHashMap<>();

	private final LockOperationSource source;

	private final LockKeyEvaluator evaluator;

	LockedMethods(LockOperationSource source, LockKeyEvaluator evaluator) {
		this.source = source;
		this.evaluator = evaluator;
	}

	LockOperationSource source() {
		return this.source;
	}

	ContainerFacts container() {
		return this.evaluator.container();
	}

	/**
	 * What is known about a method.
	 * @param method the method, of the class or of one of its interfaces
	 * @param targetClass the bean's class
	 * @return what is known, or null if the method runs without a lock
	 * @throws io.github.lockspring.LockDefinitionException if an annotation is wrong
	 */
	@Nullable LockedMethod get(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<LockedMethod> known = this.methods.get(key);
		if (known == null) {
			known = Optional.ofNullable(workOut(method, ClassUtils.getUserClass(targetClass)));
			this.methods.put(key, known);
		}
		return known.orElse(null);
	}

	private @Nullable LockedMethod workOut(Method method, Class<?> targetClass) {
		List<LockOperation> operations = this.source.getLockOperations(method, targetClass);
		if (operations.isEmpty()) {
			return null;
		}
		LockOperation first = operations.get(0);
		new ReturnTypeRules(container()).check(first, targetClass);
		List<LockedMethod.Lock> locks = new ArrayList<>(operations.size());
		for (LockOperation operation : operations) {
			locks.add(LockedMethod.Lock.of(operation, this.evaluator.parseKey(operation),
					this.evaluator.parseCondition(operation)));
		}
		if (locks.size() > 1) {
			checkRepeated(locks);
		}
		return new LockedMethod(List.copyOf(locks), this.evaluator, this.evaluator.argumentPositions(first),
				TokenParameter.of(locks), BusyAnswers.of(first, targetClass));
	}

	private static void checkRepeated(List<LockedMethod.Lock> locks) {
		LockOperation first = locks.get(0).operation();
		Set<String> keys = new HashSet<>();
		for (LockedMethod.Lock lock : locks) {
			LockOperation operation = lock.operation();
			checkSame("onBusy", first, operation, (each) -> each.onBusy().name());
			checkSame("fallback", first, operation, LockOperation::fallback);
			checkSame("onLost", first, operation, (each) -> each.onLost().name());
			String constant = lock.key().constantKey();
			String key = (constant != null) ? constant : operation.name() + '\n' + operation.key();
			// With conditions, the same key may be locked in one way or another
			if (lock.condition() == null && !keys.add(key)) {
				throw operation.site()
					.error("key", operation.key(), "repeated annotations name the same key twice",
							"Leave one of them out, or give each a condition");
			}
		}
	}

	private static void checkSame(String attribute, LockOperation first, LockOperation other,
			Function<LockOperation, String> value) {
		if (!Objects.equals(value.apply(first), value.apply(other))) {
			throw other.site()
				.error(attribute, value.apply(other),
						"repeated annotations are taken together, and another one says \"" + value.apply(first) + '"',
						"Write the same " + attribute + " in each");
		}
	}

}
