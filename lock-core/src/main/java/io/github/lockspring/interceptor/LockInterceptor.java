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

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.util.Assert;
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
		TokenParameter token = locked.token();
		if (token != null) {
			token.checkOneKey(request);
		}
		Work work = new Work(invocation, token);
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

		private final @Nullable TokenParameter token;

		private boolean started;

		Work(MethodInvocation invocation, @Nullable TokenParameter token) {
			this.invocation = invocation;
			this.token = token;
		}

		@Override
		public @Nullable Object doUnderLock(HeldLock lock) throws Throwable {
			this.started = true;
			if (this.token != null) {
				Assert.state(this.invocation instanceof ProxyMethodInvocation,
						"Arguments can be replaced only in a call through a proxy of Spring's");
				((ProxyMethodInvocation) this.invocation)
					.setArguments(this.token.fill(this.invocation.getArguments(), lock));
			}
			return this.invocation.proceed();
		}

	}

}
