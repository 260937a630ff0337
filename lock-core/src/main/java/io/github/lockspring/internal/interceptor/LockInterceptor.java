package io.github.lockspring.internal.interceptor;

import java.util.Set;
import java.util.function.Supplier;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockCallback;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.aop.AnnotatedMethods;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * Runs an annotated method under its lock: evaluates the key, and passes the request to
 * the {@link LockTemplate}. An exception of the method reaches the caller unchanged.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class LockInterceptor implements MethodInterceptor {

	private final LockOperationSource source;

	/** The annotations, read and checked when the beans were created. */
	private final AnnotatedMethods<LockedMethod> methods;

	private final Supplier<LockTemplate> locks;

	/**
	 * Creates an interceptor.
	 * @param beanFactory resolves the placeholders in annotations, and holds the beans
	 * that their expressions name
	 * @param locks gives the template, called at the first call that needs a lock and not
	 * before: an advisor that holds the template would create the connection factory
	 * before the application's bean post-processors
	 */
	public LockInterceptor(ConfigurableBeanFactory beanFactory, Supplier<LockTemplate> locks) {
		this.source = new LockOperationSource(beanFactory);
		this.methods = this.source.methods();
		this.locks = SingletonSupplier.of(locks);
	}

	LockOperationSource source() {
		return this.source;
	}

	/**
	 * Returns the labels of the locks of annotated methods: when the application has
	 * started those of all beans, except for beans whose definition does not name their
	 * class and that do not exist yet.
	 * @return the names
	 */
	public Set<String> lockNames() {
		return this.source.names();
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		LockedMethod method = this.methods.get(invocation);
		LockRequest request = method.key().request(invocation.getThis(), invocation.getArguments());
		LockTemplate template = this.locks.get();
		Work work = new Work(invocation, method.values());
		Object result;
		try {
			result = template.execute(request, work);
		}
		catch (LockNotAcquiredException ex) {
			// The work may itself have found some other lock busy
			if (method.skipped() == null || work.started) {
				throw ex;
			}
			return method.skipped().get();
		}
		if (!work.started) {
			throw notRun(method.operation(), template);
		}
		method.values().check(method.operation(), result);
		return result;
	}

	private static IllegalStateException notRun(LockOperation operation, LockTemplate template) {
		return new IllegalStateException(
				("%s was not run, although the LockTemplate (%s) returned. If it is a mock, use"
						+ " the real one in the test, with distributed-lock.store=memory, or let the mock's execute run its argument")
					.formatted(operation.annotated(), template.getClass().getName()));
	}

	private static final class Work implements LockCallback<@Nullable Object, Throwable> {

		private final MethodInvocation invocation;

		private final ReturnTypeValidator.Values values;

		private boolean started;

		Work(MethodInvocation invocation, ReturnTypeValidator.Values values) {
			this.invocation = invocation;
			this.values = values;
		}

		@Override
		public @Nullable Object doUnderLock(HeldLock lock) throws Throwable {
			this.started = true;
			// waits only for the future of an asynchronous method
			return this.values.awaited(this.invocation.proceed(), lock);
		}

	}

}
