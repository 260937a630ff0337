package io.github.lockspring.interceptor;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.aop.AnnotatedBeanValidator;
import io.github.lockspring.aop.AnnotatedMethod;
import io.github.lockspring.aop.AnnotatedMethodPointcut;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Stops the start of an application in which an annotated method would run without its
 * lock, whose annotations are wrong, or in which other advice defeats the lock. Checks
 * every bean once all singletons exist; of beans that are created later it checks the
 * class, if their definition names one, and the {@link LockOperationSourceAdvisor} and
 * the order of their advice when they are created.
 * <p>
 * To be defined by a static {@code @Bean} method, since it is a
 * {@link BeanFactoryPostProcessor}.
 *
 * @since 0.1
 */
public final class LockAnnotationValidator extends AnnotatedBeanValidator {

	@Override
	protected void validate(ConfigurableListableBeanFactory beanFactory) {
		LockOperationSourceAdvisor advisor = beanFactory.getBean(LockOperationSourceAdvisor.class);
		AdvisorOrderValidator order = new AdvisorOrderValidator(advisor,
				beanFactory.getBeanProvider(AdvisorOrderRule.class).orderedStream().toList());
		forEachBean(beanFactory, (bean) -> validate(bean, advisor, order, beanFactory));
		// Added last, it sees what the others have made of a bean
		beanFactory.addBeanPostProcessor(order);
	}

	private static void validate(Bean bean, LockOperationSourceAdvisor advisor, AdvisorOrderValidator order,
			ConfigurableListableBeanFactory beanFactory) {
		AnnotatedMethodPointcut pointcut = advisor.getPointcut();
		if (!bean.isAnnotated(pointcut)) {
			return;
		}
		bean.checkAdvised(advisor, pointcut, true);
		if (bean.instance() != null) {
			order.validate(bean.instance(), bean.type());
		}
		// A template that cannot be created is reported now, not by the first call
		if (beanFactory.getBeanProvider(LockTemplate.class).getIfAvailable() == null) {
			AnnotatedMethod method = advisor.methods().in(bean.type()).get(0);
			throw method.error("there is no LockTemplate to take the lock with",
					"Add spring-boot-starter-data-redis, or set distributed-lock.store=memory, "
							+ "or switch all locks off with distributed-lock.enabled=false");
		}
	}

}
