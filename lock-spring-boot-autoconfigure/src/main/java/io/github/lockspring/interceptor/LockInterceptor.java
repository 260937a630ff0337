package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.util.function.Supplier;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockCallback;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Runs an annotated method under its lock: condition, keys, request,
 * {@link LockTemplate}. What the method throws reaches the caller as it is. Thread-safe.
 */
public final class LockInterceptor implements MethodInterceptor {

	private final LockedMethods methods;

	private final Supplier<LockTemplate> locks;

	/**
	 * Creates an interceptor.
	 * @param source finds what is to be locked
	 * @param evaluator evaluates the expressions
	 * @param locks gives the template, asked at the first call that needs a lock and not
	 * before: an advisor that holds the template would create the connection factory
	 * before the application's bean post-processors
	 */
	public LockInterceptor(LockOperationSource source, LockKeyEvaluator evaluator, Supplier<LockTemplate> locks) {
		this.methods = new LockedMethods(source, evaluator);
		this.locks = SingletonSupplier.of(locks);
	}

	LockedMethods methods() {
		return this.methods;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Method method = invocation.getMethod();
		Object target = invocation.getThis();
		LockedMethod locked = this.methods.get(method,
				(target != null) ? AopProxyUtils.ultimateTargetClass(target) : method.getDeclaringClass());
		if (locked == null) {
			return invocation.proceed();
		}
		LockRequest request = locked.request(target, invocation.getArguments());
		if (request == null) {
			return invocation.proceed();
		}
		Work work = new Work(invocation);
		try {
			return this.locks.get().execute(request, work);
		}
		catch (LockNotAcquiredException ex) {
			BusyAnswer answer = locked.busyAnswer();
			// The work may itself have found some other lock busy
			if (answer == null || work.started) {
				throw ex;
			}
			return answer.answer(ultimateTarget(target), invocation.getArguments(), ex);
		}
	}

	private static @Nullable Object ultimateTarget(@Nullable Object target) {
		Object current = target;
		while (current != null) {
			Object next = AopProxyUtils.getSingletonTarget(current);
			if (next == null) {
				break;
			}
			current = next;
		}
		return current;
	}

	private static final class Work implements LockCallback<@Nullable Object, Throwable> {

		private final MethodInvocation invocation;

		private boolean started;

		Work(MethodInvocation invocation) {
			this.invocation = invocation;
		}

		@Override
		public @Nullable Object doUnderLock(HeldLock lock) throws Throwable {
			this.started = true;
			return this.invocation.proceed();
		}

	}

}
