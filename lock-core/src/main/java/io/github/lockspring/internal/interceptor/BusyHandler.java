package io.github.lockspring.internal.interceptor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.github.lockspring.LockException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.internal.aop.ProxyChain;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles a call whose lock is busy or, if the annotation says so, unavailable, in place
 * of throwing the exception.
 */
@FunctionalInterface
interface BusyHandler {

	/**
	 * Returns whether this handles the failure of a lock: that it is busy, unless the
	 * annotation wants more.
	 */
	default boolean handles(LockException failure) {
		return failure instanceof LockNotAcquiredException;
	}

	/**
	 * Is told that the lock was acquired.
	 */
	default void acquired() {
	}

	/**
	 * Handles a call.
	 * @param target the object that the method would have been called on, or a proxy of
	 * it
	 * @param arguments the arguments
	 * @param failure the exception
	 * @return the method's result
	 * @throws Throwable what the fallback throws
	 */
	@Nullable Object handle(@Nullable Object target, @Nullable Object[] arguments, LockException failure) throws Throwable;

	/**
	 * Returns an empty value, also when the store cannot be reached. Thread-safe.
	 *
	 * @param method the method that is skipped, for the log
	 * @param empty gives the value
	 * @param outage whether the last request failed because the store could not be
	 * reached
	 */
	record SkipAlsoUnavailable(String method, Supplier<? extends @Nullable Object> empty,
			AtomicBoolean outage) implements BusyHandler {

		private static final Logger logger = LoggerFactory.getLogger(SkipAlsoUnavailable.class);

		@Override
		public boolean handles(LockException failure) {
			return true;
		}

		@Override
		public void acquired() {
			// a read costs less than a write to what all calls share
			if (this.outage.get()) {
				this.outage.set(false);
			}
		}

		@Override
		public @Nullable Object handle(@Nullable Object target, @Nullable Object[] arguments, LockException failure) {
			if (failure instanceof LockNotAcquiredException) {
				acquired();
			}
			else if (this.outage.compareAndSet(false, true)) {
				logger.warn("{} is skipped until its lock can be requested again. {}", this.method,
						failure.getMessage());
			}
			return this.empty.get();
		}

	}

	/**
	 * Calls another method of the same object.
	 *
	 * @param method the method, accessible; it takes the arguments, and the exception
	 * after them if it has one parameter more
	 */
	record Fallback(Method method) implements BusyHandler {

		@Override
		public @Nullable Object handle(@Nullable Object target, @Nullable Object[] arguments, LockException failure)
				throws Throwable {
			@Nullable Object[] values = arguments;
			if (this.method.getParameterCount() > arguments.length) {
				values = Arrays.copyOf(arguments, arguments.length + 1);
				values[arguments.length] = failure;
			}
			try {
				return this.method.invoke(receiver(target), values);
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		}

		/** A proxy such as a repository has methods that the object behind it has not. */
		private @Nullable Object receiver(@Nullable Object target) {
			Object innermost = (target != null) ? ProxyChain.targetOf(target) : null;
			return this.method.getDeclaringClass().isInstance(innermost) ? innermost : target;
		}

	}

}
