package io.github.lockspring.internal.fencing;

import java.util.List;
import java.util.function.Consumer;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.aop.AnnotatedMethod;
import io.github.lockspring.internal.aop.AnnotatedMethods;
import io.github.lockspring.internal.base.CallChain;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Lets the guard check the tokens of the locks before the method runs. Thread-safe.
 *
 * @param methods the annotated methods
 * @param guards finds the guard of a method
 * @param refusals receives each lock whose fencing token is refused
 */
record FencedInterceptor(AnnotatedMethods<AnnotatedMethod> methods, FencingGuards guards,
		Consumer<KeyedLock> refusals) implements MethodInterceptor {

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		checkTokens(this.methods.get(invocation));
		return invocation.proceed();
	}

	private void check(FencingGuard guard, KeyedLock lock) {
		try {
			guard.check(lock);
		}
		catch (StaleFencingTokenException ex) {
			this.refusals.accept(lock);
			throw ex;
		}
	}

	private void checkTokens(AnnotatedMethod method) {
		List<KeyedLock> locks = CallChain.innermostLocks(KeyedLock.class);
		if (locks.isEmpty()) {
			throw new IllegalStateException("@Fenced on " + method
					+ ": the call holds no lock, and without one there is"
					+ " no fencing token to compare. Put @DistributedLock on the method or on one that calls it, or call"
					+ " it inside LockTemplate.execute. (A call of another method of the same object, this.…,"
					+ " does not go through the proxy that takes the lock)");
		}
		FencingGuard guard = this.guards.get(method);
		locks.forEach((lock) -> check(guard, lock));
	}

}
