package io.github.lockspring.internal.fencing;

import io.github.lockspring.Fenced;
import io.github.lockspring.internal.aop.AnnotatedBeanValidator;
import io.github.lockspring.internal.aop.AnnotatedMethod;

import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Stops the start of an application in which a method with {@link Fenced} would not be
 * fenced, or has no guard to call. Checks every bean once all singletons exist, and the
 * classes of those that are created later. Where an annotation is found, also on an
 * interface, is decided by {@link io.github.lockspring.internal.aop.AnnotatedMethods}.
 * <p>
 * To be defined by a static {@code @Bean} method, since it is a
 * {@link BeanFactoryPostProcessor}.
 *
 * @since 0.1
 */
public final class FencedAnnotationValidator extends AnnotatedBeanValidator {

	@Override
	protected void validate(ConfigurableListableBeanFactory beanFactory) {
		FencedBeanPostProcessor processor = beanFactory.getBean(FencedBeanPostProcessor.class);
		FencingGuards guards = new FencingGuards(beanFactory);
		forEachBean(beanFactory, (bean) -> validate(bean, processor, guards));
	}

	private static void validate(Bean bean, FencedBeanPostProcessor processor, FencingGuards guards) {
		if (bean.instance() instanceof Advised advised) {
			validateInterfaces(bean, advised, processor);
		}
		if (processor.isAnnotated(bean)) {
			processor.methods().in(bean.type()).forEach(guards::get);
			processor.checkAdvised(bean);
		}
	}

	/**
	 * Refuses the annotation on methods that the interfaces of a proxy declare beyond its
	 * target. The proxy's advice handles them, so no call gets further inside.
	 */
	private static void validateInterfaces(Bean bean, Advised advised, FencedBeanPostProcessor processor) {
		for (Class<?> type : advised.getProxiedInterfaces()) {
			if (!type.isAssignableFrom(bean.type())) {
				for (AnnotatedMethod method : processor.methods().in(type)) {
					throw method.error(
							"bean '" + bean.name() + "' is a proxy that handles calls itself, as repositories do,"
									+ " so nothing can be fenced inside of it",
							"Put the annotation on the service method that calls it");
				}
			}
		}
	}

}
