package io.github.lockspring.internal.interceptor;

import java.util.List;
import java.util.stream.Stream;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.aop.AnnotatedBeanValidator;
import io.github.lockspring.internal.aop.AnnotatedMethodPointcut;
import io.github.lockspring.internal.aop.WrongAnnotationException;

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
		LockedMethodValidator rules = new LockedMethodValidator(advisor,
				beanFactory.getBeanProvider(LockedMethodRule.class).orderedStream().toList());
		KeyWarnings keys = new KeyWarnings();
		forEachBean(beanFactory, (bean) -> {
			if (validate(bean, advisor, rules, beanFactory)) {
				advisor.operations(bean.type()).forEach(keys::add);
			}
		});
		keys.warn();
		// Added last, it sees what the others have made of a bean
		beanFactory.addBeanPostProcessor(rules);
	}

	/**
	 * Returns everything that is wrong with annotations: a start fails at the first one.
	 * Creates none of the application's beans.
	 * @param beanFactory the bean factory, also of a start that has failed
	 * @return the errors, at most one for each method
	 */
	public static List<WrongAnnotationException> mistakes(ConfigurableListableBeanFactory beanFactory) {
		AnnotatedMethodPointcut pointcut = new LockOperationSource(beanFactory).pointcut();
		return Stream.of(beanFactory.getBeanDefinitionNames())
			.flatMap((name) -> Stream.<Class<?>>ofNullable(typeOf(name, beanFactory)))
			.distinct()
			.flatMap((type) -> pointcut.mistakes(type).stream())
			.toList();
	}

	private static boolean validate(Bean bean, LockOperationSourceAdvisor advisor, LockedMethodValidator rules,
			ConfigurableListableBeanFactory beanFactory) {
		AnnotatedMethodPointcut pointcut = advisor.getPointcut();
		if (!bean.isAnnotated(pointcut)) {
			return false;
		}
		bean.checkAdvised(advisor, pointcut, true);
		if (bean.instance() != null) {
			rules.validate(bean.instance(), bean.type());
		}
		// A template that cannot be created is reported now, not by the first call
		beanFactory.getBean(LockTemplate.class);
		return true;
	}

}
