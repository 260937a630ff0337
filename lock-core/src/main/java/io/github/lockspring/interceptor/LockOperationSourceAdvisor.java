package io.github.lockspring.interceptor;

import org.aopalliance.aop.Advice;

import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.core.Ordered;

/**
 * Applies a {@link LockInterceptor} to every annotated method. To be defined with the
 * infrastructure role.
 */
public final class LockOperationSourceAdvisor extends AbstractPointcutAdvisor {

	private static final long serialVersionUID = 1L;

	/**
	 * The order unless another one is set: outside of transactions, so that the lock is
	 * given back after the commit.
	 */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 100;

	private final transient LockInterceptor interceptor;

	private final transient LockClassRules rules;

	private final transient LockOperationSourcePointcut pointcut;

	/**
	 * Creates an advisor.
	 * @param interceptor the advice
	 */
	public LockOperationSourceAdvisor(LockInterceptor interceptor) {
		this.interceptor = interceptor;
		this.rules = new LockClassRules(interceptor.methods());
		this.pointcut = new LockOperationSourcePointcut(this.rules);
		setOrder(DEFAULT_ORDER);
	}

	LockClassRules rules() {
		return this.rules;
	}

	@Override
	public Pointcut getPointcut() {
		return this.pointcut;
	}

	@Override
	public Advice getAdvice() {
		return this.interceptor;
	}

}
