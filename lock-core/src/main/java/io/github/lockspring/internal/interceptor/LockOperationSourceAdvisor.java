package io.github.lockspring.internal.interceptor;

import java.util.List;

import io.github.lockspring.internal.aop.AnnotatedMethodPointcut;
import io.github.lockspring.internal.aop.AnnotatedMethods;
import org.aopalliance.aop.Advice;

import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.core.Ordered;

/**
 * Applies a {@link LockInterceptor} to every annotated method. To be defined with the
 * infrastructure role.
 *
 * @since 0.1
 */
public final class LockOperationSourceAdvisor extends AbstractPointcutAdvisor {

	private static final long serialVersionUID = 1L;

	/**
	 * The default order: outside of transactions, so the lock is released after the
	 * commit.
	 */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 100;

	private final transient LockInterceptor interceptor;

	private final transient AnnotatedMethodPointcut pointcut;

	/**
	 * Creates an advisor.
	 * @param interceptor the advice
	 */
	public LockOperationSourceAdvisor(LockInterceptor interceptor) {
		this.interceptor = interceptor;
		this.pointcut = interceptor.source().pointcut();
		setOrder(DEFAULT_ORDER);
	}

	AnnotatedMethods<LockedMethod> methods() {
		return this.interceptor.source().methods();
	}

	/** Returns the annotations of a class, one for each method. */
	List<LockOperation> operations(Class<?> type) {
		return methods().readIn(type).stream().map(LockedMethod::operation).toList();
	}

	@Override
	public AnnotatedMethodPointcut getPointcut() {
		return this.pointcut;
	}

	@Override
	public Advice getAdvice() {
		return this.interceptor;
	}

}
