package io.github.lockspring.internal.interceptor;

import java.lang.annotation.Annotation;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.OnBusy;
import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import io.github.lockspring.internal.aop.ClassHierarchy;
import org.jspecify.annotations.Nullable;

import org.springframework.core.CollectionFactory;
import org.springframework.core.Nullness;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Creates, and checks, the handler of an annotated method for a busy lock.
 */
final class BusyHandlerFactory {

	/** Futures are returned by {@code @Async} methods, which unwrap them. */
	private static final Map<Class<?>, Supplier<Object>> EMPTY = Map.of(Optional.class, Optional::empty,
			OptionalInt.class, OptionalInt::empty, OptionalLong.class, OptionalLong::empty, OptionalDouble.class,
			OptionalDouble::empty, Iterable.class, ArrayList::new, Future.class, BusyHandlerFactory::emptyFuture,
			CompletionStage.class, BusyHandlerFactory::emptyFuture, CompletableFuture.class,
			BusyHandlerFactory::emptyFuture);

	private BusyHandlerFactory() {
	}

	static @Nullable BusyHandler create(LockOperation operation, Class<?> targetClass) {
		boolean skip = operation.onBusy() != OnBusy.THROW;
		if (operation.fallback().isBlank()) {
			return (skip) ? skip(operation, targetClass) : null;
		}
		if (skip) {
			throw operation.error("fallback", operation.fallback(),
					"onBusy = " + operation.onBusy() + " says that nothing runs when the lock is busy",
					"Leave out either the fallback or onBusy = " + operation.onBusy());
		}
		return new BusyHandler.Fallback(fallback(operation, targetClass));
	}

	private static BusyHandler skip(LockOperation operation, Class<?> targetClass) {
		Method method = operation.method();
		Class<?> type = GenericTypeResolver.resolveReturnType(method, targetClass);
		Supplier<? extends @Nullable Object> empty = empty(type);
		if (type != void.class && type != Void.class && empty.get() == null
				&& Nullness.forMethodReturnType(method) == Nullness.NON_NULL) {
			throw operation.error("onBusy", operation.onBusy().name(),
					"a skipped call returns null, and the return type " + type.getSimpleName()
							+ " is declared non-null",
					"Return @Nullable " + type.getSimpleName() + " or Optional<" + type.getSimpleName()
							+ ">, or name a fallback");
		}
		return (operation.onBusy() == OnBusy.SKIP) ? (target, arguments, busy) -> empty.get()
				: new BusyHandler.SkipAlsoUnavailable(operation.annotated().toString(), empty, new AtomicBoolean());
	}

	private static Supplier<? extends @Nullable Object> empty(Class<?> type) {
		Supplier<Object> known = EMPTY.get(type);
		if (known != null) {
			return known;
		}
		if (type.isArray()) {
			return () -> Array.newInstance(type.getComponentType(), 0);
		}
		if (type != void.class && type != Void.class && ClassUtils.isPrimitiveOrWrapper(type)) {
			// A new array is filled with zeros
			Object zero = Array.get(Array.newInstance(MethodType.methodType(type).unwrap().returnType(), 1), 0);
			return () -> zero;
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

	private static Method fallback(LockOperation operation, Class<?> targetClass) {
		Method method = operation.method();
		String name = operation.fallback();
		List<Method> named = methods(name, targetClass);
		if (named.isEmpty()) {
			throw operation.error("fallback", name,
					"there is no method '" + name + "' in " + operation.type().getSimpleName(),
					"Add " + wanted(operation, targetClass));
		}
		List<Method> fitting = named.stream().filter((each) -> takesArguments(each, method, targetClass)).toList();
		if (fitting.contains(method)) {
			throw operation.error("fallback", name,
					"it is the locked method itself, which would then run without the lock", "Name another method");
		}
		if (fitting.isEmpty()) {
			throw operation.error("fallback", name, "the parameters of '" + name + "' do not fit",
					"Declare it as " + wanted(operation, targetClass));
		}
		if (fitting.size() > 1) {
			throw operation.error("fallback", name, "there are " + fitting.size() + " methods '" + name + "' that fit",
					"Give the one that is meant a name of its own");
		}
		Method fallback = fitting.get(0);
		check(fallback, operation, targetClass);
		ReflectionUtils.makeAccessible(fallback);
		return fallback;
	}

	private static List<Method> methods(String name, Class<?> targetClass) {
		boolean proxy = Proxy.isProxyClass(targetClass);
		return Arrays
			.stream(ReflectionUtils.getUniqueDeclaredMethods(targetClass,
					(each) -> each.getName().equals(name) && !each.isBridge() && !each.isSynthetic()))
			// The generated class of a JDK proxy need not be accessible
			.map((each) -> proxy ? ClassHierarchy.specificMethod(each, targetClass) : each)
			.distinct()
			.toList();
	}

	private static void check(Method fallback, LockOperation operation, Class<?> targetClass) {
		Class<?> wanted = GenericTypeResolver.resolveReturnType(operation.method(), targetClass);
		Class<?> returned = GenericTypeResolver.resolveReturnType(fallback, targetClass);
		if (wanted != returned
				&& (wanted.isPrimitive() || returned.isPrimitive() || !wanted.isAssignableFrom(returned))) {
			throw operation.error("fallback", operation.fallback(),
					"'" + operation.fallback() + "' returns " + returned.getSimpleName(),
					"Declare it as " + wanted(operation, targetClass));
		}
		MergedAnnotations annotations = MergedAnnotations.from(fallback, SearchStrategy.TYPE_HIERARCHY);
		for (Class<? extends Annotation> type : List.of(DistributedLock.class, Fenced.class)) {
			if (annotations.isPresent(type)) {
				throw operation.error("fallback", operation.fallback(), "'" + operation.fallback() + "' has @"
						+ type.getSimpleName()
						+ ", which has no effect on a fallback: it is called on the object itself and not through"
						+ " its proxy",
						"Remove the annotation, or let '" + operation.fallback()
								+ "' call the annotated method of another bean");
			}
		}
	}

	private static boolean takesArguments(Method fallback, Method method, Class<?> targetClass) {
		List<Class<?>> accepted = parameterTypes(fallback, targetClass);
		List<Class<?>> given = parameterTypes(method, targetClass);
		int count = given.size();
		if (accepted.size() != count && accepted.size() != count + 1) {
			return false;
		}
		Class<?> last = (accepted.size() > count) ? accepted.get(count) : LockNotAcquiredException.class;
		return IntStream.range(0, count).allMatch((i) -> accepted.get(i).isAssignableFrom(given.get(i)))
				&& Throwable.class.isAssignableFrom(last) && last.isAssignableFrom(LockNotAcquiredException.class);
	}

	private static String wanted(LockOperation operation, Class<?> targetClass) {
		Class<?> returned = GenericTypeResolver.resolveReturnType(operation.method(), targetClass);
		return parameterTypes(operation.method(), targetClass).stream()
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", ", returned.getSimpleName() + ' ' + operation.fallback() + '(',
					"), optionally with a LockNotAcquiredException as the last parameter"));
	}

	private static List<Class<?>> parameterTypes(Method method, Class<?> targetClass) {
		return IntStream.range(0, method.getParameterCount())
			.<Class<?>>mapToObj((i) -> ResolvableType.forMethodParameter(method, i, targetClass).toClass())
			.toList();
	}

}
