package io.github.lockspring.internal.fencing;

import java.util.function.Consumer;

import io.github.lockspring.Fenced;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.aop.AnnotatedBeanValidator;
import io.github.lockspring.internal.aop.AnnotatedMethod;
import io.github.lockspring.internal.aop.AnnotatedMethodPointcut;
import io.github.lockspring.internal.aop.AnnotatedMethods;
import io.github.lockspring.internal.aop.AnnotationModel;

import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.util.Assert;

/**
 * Puts the fencing of methods with {@link Fenced} around them, innermost of all advice:
 * inside of the transaction, which no order of an advisor promises.
 * <p>
 * Define it by a static {@code @Bean} method, as every post-processor. The guards are
 * looked up when the first method needs one.
 *
 * @since 0.1
 */
public final class FencedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

	private static final long serialVersionUID = 1L;

	private static final AnnotationModel MODEL = new AnnotationModel(Fenced.class, "guard", "would not be fenced",
			"call a FencingGuard");

	private final transient AnnotatedMethods<AnnotatedMethod> methods = new AnnotatedMethods<>(MODEL,
			(method, userClass) -> method);

	private final transient AnnotatedMethodPointcut pointcut = new AnnotatedMethodPointcut(this.methods,
			this::isProxyTargetClass);

	private final transient Consumer<KeyedLock> refusals;

	/**
	 * Creates a post-processor.
	 * @param refusals receives each lock whose fencing token is refused
	 */
	public FencedBeanPostProcessor(Consumer<KeyedLock> refusals) {
		this.refusals = refusals;
		setBeforeExistingAdvisors(false);
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		super.setBeanFactory(beanFactory);
		this.advisor = new DefaultPointcutAdvisor(this.pointcut,
				new FencedInterceptor(this.methods, new FencingGuards(beanFactory), this.refusals));
	}

	/**
	 * Returns whether a bean so far has a method with the annotation.
	 * @return whether something is fenced
	 */
	public boolean isUsed() {
		return !this.methods.isEmpty();
	}

	AnnotatedMethods<AnnotatedMethod> methods() {
		return this.methods;
	}

	boolean isAnnotated(AnnotatedBeanValidator.Bean bean) {
		return bean.isAnnotated(this.pointcut);
	}

	void checkAdvised(AnnotatedBeanValidator.Bean bean) {
		Assert.state(this.advisor != null, "The post-processor has no bean factory");
		bean.checkAdvised(this.advisor, this.pointcut, false);
	}

}
