package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Supplier;

import io.github.lockspring.OnBusy;
import org.jspecify.annotations.Nullable;

import org.springframework.core.CollectionFactory;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.Nullness;
import org.springframework.util.ClassUtils;

/**
 * Finds, and checks, the result of a call that is skipped because its lock is busy.
 */
final class SkippedResult {

	/** Futures are returned by {@code @Async} methods, which unwrap them. */
	private static final Map<Class<?>, Supplier<Object>> EMPTY = Map.of(Optional.class, Optional::empty,
			OptionalInt.class, OptionalInt::empty, OptionalLong.class, OptionalLong::empty, OptionalDouble.class,
			OptionalDouble::empty, Iterable.class, ArrayList::new, Future.class, SkippedResult::emptyFuture,
			CompletionStage.class, SkippedResult::emptyFuture, CompletableFuture.class, SkippedResult::emptyFuture);

	private static final String OTHERWISE = ", or leave onBusy out and catch LockNotAcquiredException";

	private SkippedResult() {
	}

	/**
	 * Finds the empty value of a method's return type.
	 * @param operation the annotation
	 * @param targetClass the bean's class, which resolves a generic return type
	 * @return gives the value of a call, or null if the method is not skipped
	 * @throws io.github.lockspring.LockDefinitionException if no value of the type says
	 * that the method did not run
	 */
	static @Nullable Supplier<? extends @Nullable Object> of(LockOperation operation, Class<?> targetClass) {
		if (operation.onBusy() != OnBusy.SKIP) {
			return null;
		}
		Method method = operation.method();
		Class<?> type = GenericTypeResolver.resolveReturnType(method, targetClass);
		if (type == void.class || type == Void.class) {
			return () -> null;
		}
		if (ClassUtils.isPrimitiveOrWrapper(type)) {
			throw operation.error("onBusy", "SKIP",
					"a skipped call has no result, and the return type " + type.getSimpleName() + " has no empty value",
					"Return Optional<" + ClassUtils.resolvePrimitiveIfNecessary(type).getSimpleName() + "> or void"
							+ OTHERWISE);
		}
		Supplier<? extends @Nullable Object> empty = empty(type);
		if (empty.get() == null && Nullness.forMethodReturnType(method) == Nullness.NON_NULL) {
			throw operation.error("onBusy", "SKIP",
					"a skipped call returns null, and the return type " + type.getSimpleName()
							+ " is declared non-null",
					"Return @Nullable " + type.getSimpleName() + " or Optional<" + type.getSimpleName() + '>'
							+ OTHERWISE);
		}
		return empty;
	}

	private static Supplier<? extends @Nullable Object> empty(Class<?> type) {
		Supplier<Object> known = EMPTY.get(type);
		if (known != null) {
			return known;
		}
		if (type.isArray()) {
			return () -> Array.newInstance(type.getComponentType(), 0);
		}
		if (Map.class.isAssignableFrom(type) || Collection.class.isAssignableFrom(type)) {
			Supplier<Object> container = () -> (Map.class.isAssignableFrom(type)) ? CollectionFactory.createMap(type, 0)
					: CollectionFactory.createCollection(type, 0);
			try {
				container.get();
				return container;
			}
			catch (IllegalArgumentException ex) {
				// A type of its own, which cannot be created
			}
		}
		return () -> null;
	}

	private static Object emptyFuture() {
		return CompletableFuture.<@Nullable Object>completedFuture(null);
	}

}
