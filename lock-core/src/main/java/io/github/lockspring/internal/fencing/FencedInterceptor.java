package io.github.lockspring.internal.fencing;

import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.FencingGuard;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockContext;
import io.github.lockspring.Fenced;
import io.github.lockspring.internal.aop.AnnotatedMethods;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Lets the guard check the tokens of the locks before the method runs. Thread-safe.
 */
final class FencedInterceptor implements MethodInterceptor {

	private final AnnotatedMethods<Fenced, FencedMethod> methods;

	private final FencingGuards guards;

	private final Consumer<HeldLock> refusals;

	FencedInterceptor(AnnotatedMethods<Fenced, FencedMethod> methods, FencingGuards guards,
			Consumer<HeldLock> refusals) {
		this.methods = methods;
		this.guards = guards;
		this.refusals = refusals;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		checkTokens(this.methods.get(invocation));
		return invocation.proceed();
	}

	private void check(FencingGuard guard, HeldLock lock) {
		try {
			guard.check(lock);
		}
		catch (StaleFencingTokenException ex) {
			this.refusals.accept(lock);
			throw ex;
		}
	}

	private void checkTokens(FencedMethod method) {
		List<HeldLock> locks = LockContext.innermostLocks();
		if (!locks.isEmpty()) {
			FencingGuard guard = this.guards.get(method);
			locks.forEach((lock) -> check(guard, lock));
		}
		else if (!method.maybeUnlocked()) {
			throw new IllegalStateException("@Fenced on " + method
					+ ": the call holds no lock, and without one there is"
					+ " no fencing token to compare. Put @DistributedLock on the method or on one that calls it, or call"
					+ " it inside LockTemplate.execute. (A call of another method of the same object, this.…,"
					+ " does not go through the proxy that takes the lock)");
		}
	}

}
