package io.github.lockspring.interceptor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;

import io.github.lockspring.LockNotAcquiredException;
import org.jspecify.annotations.Nullable;

/**
 * Handles a call whose lock is busy, in place of throwing the exception.
 */
@FunctionalInterface
interface BusyHandler {

	/**
	 * Handles a call.
	 * @param target the object that the method would have been called on
	 * @param arguments the arguments
	 * @param busy the exception
	 * @return the method's result
	 * @throws Throwable what the fallback throws
	 */
	@Nullable Object handle(@Nullable Object target, @Nullable Object[] arguments, LockNotAcquiredException busy)
			throws Throwable;

	/**
	 * Calls another method of the same object.
	 *
	 * @param method the method, accessible; it takes the arguments, and the exception
	 * after them if it has one parameter more
	 */
	record Fallback(Method method) implements BusyHandler {

		@Override
		public @Nullable Object handle(@Nullable Object target, @Nullable Object[] arguments,
				LockNotAcquiredException busy) throws Throwable {
			@Nullable Object[] values = arguments;
			if (this.method.getParameterCount() > arguments.length) {
				values = Arrays.copyOf(arguments, arguments.length + 1);
				values[arguments.length] = busy;
			}
			try {
				return this.method.invoke(target, values);
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		}

	}

}
