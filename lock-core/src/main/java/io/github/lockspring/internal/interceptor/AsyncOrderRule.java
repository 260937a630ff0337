package io.github.lockspring.internal.interceptor;

import org.springframework.aop.Advisor;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;

/**
 * Refuses {@code @Async} inside of the lock: the lock would be released as soon as the
 * work is handed to another thread. Outside of it, which is the default, the lock is
 * taken by that thread.
 */
final class AsyncOrderRule implements LockedMethodRule {

	static final String PROBLEM = "@Async is inside of its lock, which would be released"
			+ " as soon as the work is handed to another thread";

	@Override
	public void validate(AdvisorChain chain) {
		if (chain.inside().stream().map(Advisor::getAdvice).anyMatch(AsyncExecutionInterceptor.class::isInstance)) {
			throw chain.error(PROBLEM,
					"Leave out the order of @EnableAsync: by default it is outside, and the lock is taken by the thread that works");
		}
	}

}
