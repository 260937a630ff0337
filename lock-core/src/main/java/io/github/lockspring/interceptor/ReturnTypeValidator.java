package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.stream.Stream;

import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.aop.BeanFactoryInspector;
import io.github.lockspring.aop.ClassHierarchy;

import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;

/**
 * Refuses methods that return before their work is done: the lock would be released
 * before it, or in the middle of it.
 *
 * @param inspector knows how asynchronous methods are called
 */
record ReturnTypeValidator(BeanFactoryInspector inspector) {

	/** By name: most of these types need not be there. */
	private static final Set<String> DEFERRED = Set.of("org.reactivestreams.Publisher",
			"java.util.concurrent.Flow$Publisher", "java.util.stream.BaseStream", "java.util.concurrent.Callable",
			"org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
			"io.reactivex.rxjava3.core.ObservableSource", "io.reactivex.rxjava3.core.SingleSource",
			"io.reactivex.rxjava3.core.MaybeSource", "io.reactivex.rxjava3.core.CompletableSource",
			"kotlinx.coroutines.flow.Flow", "kotlin.sequences.Sequence");

	private static final Set<String> FUTURES = Set.of("java.util.concurrent.Future",
			"java.util.concurrent.CompletionStage", "kotlinx.coroutines.Job");

	private static final String CONTINUATION = "kotlin.coroutines.Continuation";

	private static final String HTTP_ENTITY = "org.springframework.http.HttpEntity";

	void validate(LockOperation operation, Class<?> targetClass) {
		Method method = operation.method();
		Class<?>[] parameters = method.getParameterTypes();
		if (parameters.length > 0 && CONTINUATION.equals(parameters[parameters.length - 1].getName())) {
			throw error(operation, "it is a suspend function");
		}
		if (this.inspector.weavesAsyncMethods() && isAsync(operation, targetClass)) {
			throw operation.error(AsyncOrderRule.PROBLEM,
					"Leave out the mode of @EnableAsync: with a proxy it is outside of the lock");
		}
		ResolvableType type = ResolvableType.forMethodReturnType(method, targetClass);
		checkType(operation, type, targetClass);
		if (is(type.toClass(), Set.of(HTTP_ENTITY))) {
			checkType(operation, type.as(type.toClass()).getGeneric(), targetClass);
		}
	}

	private void checkType(LockOperation operation, ResolvableType type, Class<?> targetClass) {
		Class<?> returned = type.toClass();
		String what = "it returns a " + returned.getSimpleName();
		if (is(returned, DEFERRED)) {
			throw error(operation, what);
		}
		if (is(returned, FUTURES)) {
			if (!isAsync(operation, targetClass)) {
				throw error(operation, what);
			}
			if (!this.inspector.runsAsyncMethods()) {
				throw operation.error(
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

	private static boolean is(Class<?> type, Set<String> names) {
		return ClassHierarchy.of(type).stream().anyMatch((each) -> names.contains(each.getName()));
	}

	private static LockDefinitionException error(LockOperation operation, String what) {
		return operation.error(what + ": the lock would be released before the work runs",
				"Lock a method that does the work before it returns, or take the lock inside the work with LockTemplate");
	}

}
