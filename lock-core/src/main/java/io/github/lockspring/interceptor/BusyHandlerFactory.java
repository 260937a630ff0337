package io.github.lockspring.interceptor;

import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
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
import java.util.function.Supplier;

import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.OnBusy;
import org.jspecify.annotations.Nullable;

import org.springframework.core.CollectionFactory;
import org.springframework.core.Nullness;
import org.springframework.core.ResolvableType;
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
		boolean skip = operation.onBusy() == OnBusy.SKIP;
		if (operation.fallback().isBlank()) {
			return (skip) ? new BusyHandler.Skip(empty(operation, targetClass)) : null;
		}
		if (skip) {
			throw operation.error("fallback", operation.fallback(),
					"onBusy = SKIP says that nothing runs when the lock is busy",
					"Leave out either the fallback or onBusy = SKIP");
		}
		return new BusyHandler.Fallback(fallback(operation, targetClass));
	}

	private static Supplier<? extends @Nullable Object> empty(LockOperation operation, Class<?> targetClass) {
		Method method = operation.method();
		Class<?> type = ResolvableType.forMethodReturnType(method, targetClass).toClass();
		Supplier<? extends @Nullable Object> empty = empty(type);
		if (type != void.class && type != Void.class && empty.get() == null
				&& Nullness.forMethodReturnType(method) == Nullness.NON_NULL) {
			throw operation.error("onBusy", OnBusy.SKIP.name(),
					"a skipped call returns null, and the return type " + type.getSimpleName()
							+ " is declared non-null",
					"Return @Nullable " + type.getSimpleName() + " or Optional<" + type.getSimpleName()
							+ ">, or name a fallback");
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
		if (type != void.class && type != Void.class && ClassUtils.isPrimitiveOrWrapper(type)) {
			// A new array is filled with zeros
			Object zero = Array.get(Array.newInstance(MethodType.methodType(type).unwrap().returnType(), 1), 0);
			return () -> zero;
		}
		Supplier<Object> container = () -> (Map.class.isAssignableFrom(type)) ? CollectionFactory.createMap(type, 0)
				: CollectionFactory.createCollection(type, 0);
		return ((Map.class.isAssignableFrom(type) || Collection.class.isAssignableFrom(type)) && works(container))
				? container : () -> null;
	}

	private static Object emptyFuture() {
		return CompletableFuture.<@Nullable Object>completedFuture(null);
	}

	private static boolean works(Supplier<Object> container) {
		try {
			container.get();
			return true;
		}
		catch (IllegalArgumentException ex) {
			return false;
		}
	}

	private static Method fallback(LockOperation operation, Class<?> targetClass) {
		Method method = operation.method();
		String name = operation.fallback();
		List<Method> named = named(name, targetClass);
		if (named.isEmpty()) {
			throw operation.error("fallback", name,
					"there is no method '" + name + "' in " + targetClass.getSimpleName(),
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
		if (!returnFits(fallback, method, targetClass)) {
			throw operation.error("fallback", name,
					"'" + name + "' returns "
							+ ResolvableType.forMethodReturnType(fallback, targetClass).toClass().getSimpleName(),
					"Declare it as " + wanted(operation, targetClass));
		}
		ReflectionUtils.makeAccessible(fallback);
		return fallback;
	}

	private static List<Method> named(String name, Class<?> targetClass) {
		List<Method> methods = new ArrayList<>();
		ReflectionUtils.doWithMethods(targetClass, (method) -> {
			boolean overridden = methods.stream().anyMatch((nearer) -> overrides(nearer, method));
			if (!overridden) {
				methods.add(method);
			}
		}, (method) -> method.getName().equals(name) && !method.isBridge() && !method.isSynthetic());
		return methods;
	}

	private static boolean overrides(Method nearer, Method method) {
		return Arrays.equals(nearer.getParameterTypes(), method.getParameterTypes());
	}

	private static boolean takesArguments(Method fallback, Method method, Class<?> targetClass) {
		int count = method.getParameterCount();
		int own = fallback.getParameterCount();
		if (own != count && own != count + 1) {
			return false;
		}
		for (int i = 0; i < count; i++) {
			Class<?> given = ResolvableType.forMethodParameter(method, i, targetClass).toClass();
			if (!ResolvableType.forMethodParameter(fallback, i, targetClass).toClass().isAssignableFrom(given)) {
				return false;
			}
		}
		Class<?> last = (own > count) ? fallback.getParameterTypes()[count] : LockNotAcquiredException.class;
		return Throwable.class.isAssignableFrom(last) && last.isAssignableFrom(LockNotAcquiredException.class);
	}

	private static boolean returnFits(Method fallback, Method method, Class<?> targetClass) {
		Class<?> wanted = ResolvableType.forMethodReturnType(method, targetClass).toClass();
		Class<?> given = ResolvableType.forMethodReturnType(fallback, targetClass).toClass();
		return wanted == given || (!wanted.isPrimitive() && !given.isPrimitive() && wanted.isAssignableFrom(given));
	}

	private static String wanted(LockOperation operation, Class<?> targetClass) {
		Method method = operation.method();
		StringBuilder text = new StringBuilder();
		text.append(ResolvableType.forMethodReturnType(method, targetClass).toClass().getSimpleName());
		text.append(' ').append(operation.fallback()).append('(');
		for (int i = 0; i < method.getParameterCount(); i++) {
			text.append((i > 0) ? ", " : "");
			text.append(ResolvableType.forMethodParameter(method, i, targetClass).toClass().getSimpleName());
		}
		return text.append("), optionally with a LockNotAcquiredException as the last parameter").toString();
	}

}
