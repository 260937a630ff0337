package io.github.lockspring.fencing;

import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.annotation.Fenced;
import io.github.lockspring.fencing.FencedMethods.FencedMethod;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.Assert;

/**
 * Stops the start of an application in which a method with {@link Fenced} would not be
 * fenced, or has no guard to ask. It looks at every bean once all singletons are there,
 * and at the classes of those that are made later.
 * <p>
 * To be defined by a static {@code @Bean} method, since it is a
 * {@link BeanFactoryPostProcessor}: beans that are created too early to be proxied are
 * noticed only by somebody who is there first.
 */
public final class FencedChecker implements BeanFactoryPostProcessor, SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(FencedChecker.class);

	private final MadeBeans madeBeans = new MadeBeans();

	private @Nullable ConfigurableListableBeanFactory beanFactory;

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) throws BeansException {
		this.beanFactory = beanFactory;
		beanFactory.addBeanPostProcessor(this.madeBeans);
	}

	@Override
	public void afterSingletonsInstantiated() {
		ConfigurableListableBeanFactory beans = this.beanFactory;
		Assert.state(beans != null, "FencedChecker is no BeanFactoryPostProcessor of this context");
		FencedBeanPostProcessor processor = beans.getBean(FencedBeanPostProcessor.class);
		Set<String> names = new LinkedHashSet<>(Arrays.asList(beans.getBeanDefinitionNames()));
		names.addAll(Arrays.asList(beans.getSingletonNames()));
		FencingGuards guards = new FencingGuards(beans);
		for (String name : names) {
			Object bean = (beans.containsSingleton(name)) ? beans.getSingleton(name) : null;
			Class<?> type = (bean != null) ? AopProxyUtils.ultimateTargetClass(bean) : typeOf(beans, name);
			if (type == null || bean instanceof AopInfrastructureBean) {
				continue;
			}
			if (bean instanceof Advised advised) {
				checkInterfaces(processor.pointcut().methods(), name, advised, type);
			}
			if (processor.pointcut().matches(type)) {
				for (FencedMethod method : processor.pointcut().methods().all(type)) {
					guards.get(method);
					if (bean != null) {
						checkProxy(processor, name, bean, method);
					}
				}
			}
		}
		this.madeBeans.stop();
	}

	private static @Nullable Class<?> typeOf(ConfigurableListableBeanFactory beans, String name) {
		try {
			Class<?> type = beans.getType(name, false);
			// Without a class to instantiate, what will be made is not known
			return (type != null && !Modifier.isAbstract(type.getModifiers())) ? type : null;
		}
		catch (BeansException | LinkageError | IllegalStateException ex) {
			logger.debug("Annotations of bean '{}' are checked when it is made", name, ex);
			return null;
		}
	}

	/**
	 * What the interfaces of a proxy declare beyond its target is answered by advice that
	 * asks nobody further inside.
	 */
	private static void checkInterfaces(FencedMethods methods, String name, Advised advised, Class<?> targetType) {
		for (Class<?> type : advised.getProxiedInterfaces()) {
			if (!type.isAssignableFrom(targetType)) {
				for (FencedMethod method : methods.all(type)) {
					throw FencedPointcut.error(method,
							"bean '" + name + "' is a proxy that answers by itself, as repositories are:"
									+ " inside of it nothing can be fenced",
							"Put the annotation on the service method that calls it");
				}
			}
		}
	}

	private void checkProxy(FencedBeanPostProcessor processor, String name, Object bean, FencedMethod method) {
		if (processor.isAdvising(bean)) {
			if (AopUtils.isCglibProxy(bean) && Modifier.isFinal(method.method().getModifiers())) {
				throw FencedPointcut.error(method, "bean '" + name
						+ "' is proxied by a subclass, which cannot override a final method: it would not be fenced",
						"Remove final from the method");
			}
		}
		// What nobody made, such as the mock of a test, nobody proxies. An opaque proxy
		// does not show its advisors
		else if (this.madeBeans.contains(name) && (bean instanceof Advised || !(bean instanceof SpringProxy))) {
			throw FencedPointcut.error(method, "bean '" + name + "' is not proxied, and would not be fenced",
					"It may have been created too early, for a bean post-processor: make that one's @Bean method static,"
							+ " or its dependency @Lazy");
		}
	}

	/**
	 * Notes which singletons the container makes. Beans are made on several threads.
	 */
	private static final class MadeBeans implements BeanPostProcessor {

		private volatile @Nullable Set<String> names = ConcurrentHashMap.newKeySet();

		@Override
		public Object postProcessBeforeInitialization(Object bean, String beanName) throws BeansException {
			Set<String> known = this.names;
			if (known != null) {
				known.add(beanName);
			}
			return bean;
		}

		boolean contains(String beanName) {
			Set<String> known = this.names;
			return known != null && known.contains(beanName);
		}

		void stop() {
			this.names = null;
		}

	}

}
