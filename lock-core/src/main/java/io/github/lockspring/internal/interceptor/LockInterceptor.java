package io.github.lockspring.internal.interceptor;

import java.util.Set;
import java.util.function.Supplier;

import io.github.lockspring.DistributedLock;
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

	private final AnnotatedMethods<DistributedLock, LockedMethod> methods;

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
		LockedMethod locked = this.methods.get(invocation);
		LockRequest request = locked.request(invocation.getThis(), invocation.getArguments());
		Work work = new Work(invocation, locked);
		try {
			LockTemplate template = this.locks.get();
			Object result = template.execute(request, work);
			if (!work.started) {
				throw new IllegalStateException(locked.notRun(template));
			}
			locked.checkResult(result);
			return result;
		}
		catch (LockNotAcquiredException ex) {
			// The work may itself have found some other lock busy
			if (locked.skipped() == null || work.started) {
				throw ex;
			}
			return locked.skipped().get();
		}
	}

	private static final class Work implements LockCallback<@Nullable Object, Throwable> {

		private final MethodInvocation invocation;

		private final LockedMethod locked;

		private boolean started;

		Work(MethodInvocation invocation, LockedMethod locked) {
			this.invocation = invocation;
			this.locked = locked;
		}

		@Override
		public @Nullable Object doUnderLock(HeldLock lock) throws Throwable {
			this.started = true;
			return this.locked.awaited(this.invocation.proceed(), lock);
		}

	}

}
