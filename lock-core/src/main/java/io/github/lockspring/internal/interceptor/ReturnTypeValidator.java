package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.internal.aop.BeanFactoryInspector;
import io.github.lockspring.internal.aop.ClassHierarchy;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;

/**
 * Refuses methods that return before their work is done: the lock would be released
 * before it, or in the middle of it.
 *
 * @param inspector finds out how asynchronous methods are called
 */
record ReturnTypeValidator(BeanFactoryInspector inspector) {

	/** By name: most of these types need not be there. */
	private static final Set<String> DEFERRED = Set.of("org.reactivestreams.Publisher",
			"java.util.concurrent.Flow$Publisher", "java.util.stream.BaseStream", "java.util.Iterator",
			"java.util.concurrent.Callable", "org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
			"io.reactivex.rxjava3.core.ObservableSource", "io.reactivex.rxjava3.core.SingleSource",
			"io.reactivex.rxjava3.core.MaybeSource", "io.reactivex.rxjava3.core.CompletableSource",
			"kotlinx.coroutines.flow.Flow", "kotlin.sequences.Sequence");

	private static final Set<String> FUTURES = Set.of("java.util.concurrent.Future",
			"java.util.concurrent.CompletionStage", "kotlinx.coroutines.Job");

	private static final String REMEDY = "Lock a method that does the work before it returns, or take the lock inside"
			+ " the work with LockTemplate";

	private static final String CONTINUATION = "kotlin.coroutines.Continuation";

	private static final Set<String> CONTAINERS = Set.of("java.util.Optional", "java.lang.Iterable", "java.util.Map",
			"java.util.concurrent.Future", "java.util.concurrent.CompletionStage",
			"org.springframework.http.HttpEntity");

	/** A type may contain itself, as Path is an Iterable of Path. */
	private static final int MAX_DEPTH = 3;

	/** Declared types that say nothing about the value. */
	private static final Set<Class<?>> OPAQUE = Set.of(Object.class, Optional.class, AutoCloseable.class);

	private static final ClassValue<Boolean> RETURNED_EARLY = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return isDeferred(type) || is(type, FUTURES);
		}

	};

	/**
	 * The treatment of the values that a method returns.
	 */
	enum Values {

		/** Nothing: their work is done. */
		RETURN,

		/** Their type says whether their work is done. */
		VALIDATE,

		/**
		 * Wait under the lock: the thread of an {@code @Async} method would otherwise
		 * wait for its future after the release.
		 */
		AWAIT;

		/** How soon a wait that was interrupted notices that the lock was lost. */
		private static final long CHECK_MILLIS = 100;

		/**
		 * Returns a value when its work is done, called while the lock is held. An
		 * interrupt does not end that work, so it ends the wait only when the lock is
		 * lost.
		 * @param value what the method returned
		 * @param lock the lock
		 * @return the value
		 * @throws Throwable the exception of its work
		 */
		@Nullable Object awaited(@Nullable Object value, HeldLock lock) throws Throwable {
			if (this == AWAIT && value instanceof Future<?> future) {
				boolean interrupted = false;
				try {
					while (!isDone(future, interrupted)) {
						interrupted = true;
						if (!lock.isHeld()) {
							throw new InterruptedException("interrupted, and the lock was lost");
						}
					}
				}
				finally {
					if (interrupted) {
						Thread.currentThread().interrupt();
					}
				}
			}
			return value;
		}

		/** Waits; after an interrupt only for a while. */
		private static boolean isDone(Future<?> future, boolean interrupted) throws Throwable {
			try {
				future.get(interrupted ? CHECK_MILLIS : Long.MAX_VALUE, TimeUnit.MILLISECONDS);
				return true;
			}
			catch (InterruptedException | TimeoutException ex) {
				return false;
			}
			catch (ExecutionException ex) {
				throw (ex.getCause() != null) ? ex.getCause() : ex;
			}
		}

		/**
		 * Refuses a value whose work is not done, called after the release.
		 * @param operation the annotation
		 * @param value what the method returned
		 * @throws IllegalStateException if it is a future, a publisher or the like
		 */
		void check(LockOperation operation, @Nullable Object value) {
			Object content = (value instanceof Optional<?> optional) ? optional.orElse(null) : value;
			if (this == VALIDATE && content != null && RETURNED_EARLY.get(content.getClass())) {
				throw new IllegalStateException(operation.annotated()
					.mistake("return type", returnType(operation),
							"it returned an object of the type " + ClassUtils.getShortName(content.getClass())
									+ ": the lock was released before that object's work was done",
							REMEDY)
					.toString());
			}
		}

	}

	/**
	 * Validates the declared type.
	 * @return what to do with values
	 */
	Values validate(LockOperation operation, Class<?> targetClass) {
		Method method = operation.method();
		Class<?>[] parameters = method.getParameterTypes();
		if (parameters.length > 0 && CONTINUATION.equals(parameters[parameters.length - 1].getName())) {
			throw operation.annotated()
				.error("it is a suspend function: the lock would be released before the work runs", REMEDY);
		}
		if (this.inspector.weavesAsyncMethods() && isAsync(operation, targetClass)) {
			throw operation.annotated()
				.error(AsyncOrderRule.PROBLEM,
						"Leave out the mode of @EnableAsync: with a proxy it is outside of the lock");
		}
		ResolvableType type = ResolvableType.forMethodReturnType(method, targetClass);
		checkType(operation, type, targetClass);
		checkContents(operation, type, MAX_DEPTH);
		if (isAsync(operation, targetClass)) {
			return is(type.toClass(), FUTURES) ? Values.AWAIT : Values.RETURN;
		}
		return OPAQUE.contains(type.toClass()) ? Values.VALIDATE : Values.RETURN;
	}

	private static void checkContents(LockOperation operation, ResolvableType type, int depth) {
		for (ResolvableType content : (depth > 0) ? contents(type) : new ResolvableType[0]) {
			Class<?> contained = content.toClass();
			if (RETURNED_EARLY.get(contained)) {
				throw error(operation,
						"its return type " + type.toClass().getSimpleName() + " contains " + contained.getSimpleName());
			}
			checkContents(operation, content, depth - 1);
		}
	}

	private static ResolvableType[] contents(ResolvableType type) {
		if (type.isArray()) {
			return new ResolvableType[] { type.getComponentType() };
		}
		return ClassHierarchy.of(type.toClass())
			.stream()
			.filter((each) -> CONTAINERS.contains(each.getName()))
			.flatMap((each) -> Arrays.stream(type.as(each).getGenerics()))
			.toArray(ResolvableType[]::new);
	}

	private void checkType(LockOperation operation, ResolvableType type, Class<?> targetClass) {
		Class<?> returned = type.toClass();
		String what = "its return type is " + returned.getSimpleName();
		if (isDeferred(returned)) {
			throw error(operation, what);
		}
		if (is(returned, FUTURES)) {
			if (!isAsync(operation, targetClass)) {
				throw error(operation, what);
			}
			if (!this.inspector.runsAsyncMethods()) {
				throw error(operation,
						what + ", and nothing here runs @Async methods on another thread: "
								+ "the lock would be released before the work runs",
						"Add @EnableAsync to a configuration");
			}
		}
	}

	private static boolean isAsync(LockOperation operation, Class<?> targetClass) {
		return Stream.of(operation.method(), operation.annotated().declared(), targetClass)
			.anyMatch((each) -> AnnotatedElementUtils.hasAnnotation(each, Async.class));
	}

	/**
	 * A supplier that is an Iterable has its elements: Spring Data's Page also gives a
	 * stream of them.
	 */
	private static boolean isDeferred(Class<?> type) {
		return is(type, DEFERRED) || (Supplier.class.isAssignableFrom(type) && !Iterable.class.isAssignableFrom(type));
	}

	private static boolean is(Class<?> type, Set<String> names) {
		return ClassHierarchy.of(type).stream().anyMatch((each) -> names.contains(each.getName()));
	}

	private static LockDefinitionException error(LockOperation operation, String what) {
		return error(operation, what + ": the lock would be released before the work runs", REMEDY);
	}

	private static LockDefinitionException error(LockOperation operation, String problem, String remedy) {
		return operation.error("return type", returnType(operation), problem, remedy);
	}

	private static String returnType(LockOperation operation) {
		return ResolvableType.forMethodReturnType(operation.method(), operation.type()).toClass().getSimpleName();
	}

}
