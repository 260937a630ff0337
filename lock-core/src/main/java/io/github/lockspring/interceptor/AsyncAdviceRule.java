package io.github.lockspring.interceptor;

import org.springframework.aop.Advisor;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;

/**
 * Refuses {@code @Async} inside of the lock: the lock would be given back as soon as the
 * work is handed to another thread. Outside of it, where it is unless an order says
 * otherwise, the lock is taken by that thread.
 */
final class AsyncAdviceRule implements LockAdviceRule {

	static final String PROBLEM = "@Async is inside of its lock, which would be released"
			+ " as soon as the work is handed to another thread";

	@Override
	public void check(LockAdvice advice) {
		for (Advisor advisor : advice.inside()) {
			if (advisor.getAdvice() instanceof AsyncExecutionInterceptor) {
				throw advice.error(PROBLEM,
						"Leave out the order of @EnableAsync: by default it is outside, and the lock is taken by the thread that works");
			}
		}
	}

}
