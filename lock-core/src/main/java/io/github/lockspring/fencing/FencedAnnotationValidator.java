package io.github.lockspring.fencing;

import io.github.lockspring.annotation.Fenced;
import io.github.lockspring.aop.AnnotatedBeans;
import io.github.lockspring.aop.AnnotatedMethod;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.Assert;

/**
 * Stops the start of an application in which a method with {@link Fenced} would not be
 * fenced, or has no guard to call. Checks every bean once all singletons exist, and the
 * classes of those that are created later.
 * <p>
 * To be defined by a static {@code @Bean} method, since it is a
 * {@link BeanFactoryPostProcessor}: beans that are created too early to be proxied are
 * noticed only if this is created before them.
 *
 * @since 0.1
 */
public final class FencedAnnotationValidator implements BeanFactoryPostProcessor, SmartInitializingSingleton {

	private @Nullable AnnotatedBeans beans;

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) throws BeansException {
		this.beans = new AnnotatedBeans(beanFactory);
	}

	@Override
	public void afterSingletonsInstantiated() {
		AnnotatedBeans beans = this.beans;
		Assert.state(beans != null, "FencedAnnotationValidator was not called as a BeanFactoryPostProcessor");
		FencedBeanPostProcessor processor = beans.beanFactory().getBean(FencedBeanPostProcessor.class);
		FencingGuards guards = new FencingGuards(beans.beanFactory());
		beans.forEach((bean) -> validate(bean, processor, guards));
	}

	private static void validate(AnnotatedBeans.Bean bean, FencedBeanPostProcessor processor, FencingGuards guards) {
		if (bean.instance() instanceof Advised advised) {
			validateInterfaces(bean, advised, processor);
		}
		if (processor.isAnnotated(bean)) {
			for (AnnotatedMethod method : processor.methods().in(bean.type())) {
				FencedMethod fenced = processor.methods().get(method.method(), bean.type());
				if (fenced != null) {
					guards.get(fenced);
				}
			}
			processor.checkAdvised(bean);
		}
	}

	/**
	 * Refuses the annotation on methods that the interfaces of a proxy declare beyond its
	 * target. The proxy's advice handles them, so no call gets further inside.
	 */
	private static void validateInterfaces(AnnotatedBeans.Bean bean, Advised advised,
			FencedBeanPostProcessor processor) {
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
