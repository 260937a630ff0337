package io.github.lockspring.fencing;

import java.util.Arrays;

import io.github.lockspring.annotation.Fenced;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;

/**
 * Puts the fencing of methods with {@link Fenced} around them, innermost of all advice:
 * inside of the transaction, which no order of an advisor promises.
 * <p>
 * To be defined by a static {@code @Bean} method, as every post-processor. It looks up
 * the guards when the first method asks for one.
 */
public final class FencedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

	private static final long serialVersionUID = 1L;

	private final transient FencedPointcut pointcut = new FencedPointcut(new FencedMethods());

	/**
	 * Creates a post-processor.
	 */
	public FencedBeanPostProcessor() {
		setBeforeExistingAdvisors(false);
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		super.setBeanFactory(beanFactory);
		this.advisor = new DefaultPointcutAdvisor(this.pointcut,
				new FencedInterceptor(this.pointcut.methods(), new FencingGuards(beanFactory)));
	}

	FencedPointcut pointcut() {
		return this.pointcut;
	}

	boolean isAdvising(Object bean) {
		@Nullable Object current = bean;
		while (current instanceof Advised advised) {
			if (Arrays.asList(advised.getAdvisors()).contains(this.advisor)) {
				return true;
			}
			current = AopProxyUtils.getSingletonTarget(current);
		}
		return false;
	}

}
