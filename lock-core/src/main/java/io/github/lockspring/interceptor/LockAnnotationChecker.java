package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.LockTemplate;
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
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.Assert;

/**
 * Stops the start of an application in which an annotated method would run without its
 * lock, whose annotations are wrong, or in which other advice defeats the lock. It looks
 * at every bean once all singletons are there; of beans that are created later it checks
 * the class, if their definition names one; the {@link LockOperationSourceAdvisor} checks
 * again when they are made, and what other advice they have is looked at then.
 * <p>
 * To be defined by a static {@code @Bean} method, since it is a
 * {@link BeanFactoryPostProcessor}: beans that are created too early to be proxied are
 * noticed only by somebody who is there first.
 */
public final class LockAnnotationChecker implements BeanFactoryPostProcessor, SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(LockAnnotationChecker.class);

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
		Assert.state(beans != null, "LockAnnotationChecker is no BeanFactoryPostProcessor of this context");
		LockOperationSourceAdvisor advisor = beans.getBean(LockOperationSourceAdvisor.class);
		LockAdviceRules adviceRules = new LockAdviceRules(advisor,
				beans.getBeanProvider(LockAdviceRule.class).orderedStream().toList());
		Set<String> names = new LinkedHashSet<>(Arrays.asList(beans.getBeanDefinitionNames()));
		names.addAll(Arrays.asList(beans.getSingletonNames()));
		boolean found = false;
		for (String name : names) {
			Object bean = (beans.containsSingleton(name)) ? beans.getSingleton(name) : null;
			Class<?> type = (bean != null) ? checkBean(beans, advisor, name, bean) : checkType(beans, advisor, name);
			if (type != null && bean != null) {
				adviceRules.check(bean, type);
			}
			if (type != null && !found) {
				checkTemplate(beans, advisor.rules(), type);
				found = true;
			}
		}
		this.madeBeans.stop();
		// Added last, it sees what the others have made of a bean
		beans.addBeanPostProcessor(adviceRules);
	}

	/**
	 * Checks a bean that is there.
	 * @return its class if that has annotated methods
	 */
	private @Nullable Class<?> checkBean(ConfigurableListableBeanFactory beans, LockOperationSourceAdvisor advisor,
			String name, Object bean) {
		// A scoped proxy passes on to beans that are proxied themselves
		if (bean instanceof AopInfrastructureBean) {
			return null;
		}
		Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
		if (!advisor.rules().check(type)) {
			return null;
		}
		if (isAdvised(bean, advisor)) {
			checkProxy(advisor.rules(), name, bean, type);
		}
		else if (this.madeBeans.contains(name) || !beans.containsBeanDefinition(name)) {
			LockClassRules rules = advisor.rules();
			throw rules.error(rules.anyLockedMethod(type), type,
					"bean '" + name + "' is not proxied, and would run without the lock",
					"It may have been created too early, for a bean post-processor: make that one's @Bean method static, "
							+ "or its dependency @Lazy. A finished object must be registered as a bean definition");
		}
		return type;
	}

	private @Nullable Class<?> checkType(ConfigurableListableBeanFactory beans, LockOperationSourceAdvisor advisor,
			String name) {
		Class<?> type = null;
		try {
			type = beans.getType(name, false);
			// Without a class to instantiate, what will be made is not known
			if (type == null || Modifier.isAbstract(type.getModifiers())) {
				return null;
			}
			return (advisor.rules().check(type)) ? type : null;
		}
		catch (BeansException | LinkageError | IllegalStateException ex) {
			logger.debug("Annotations of bean '{}' are checked when it is made", name, ex);
			return null;
		}
	}

	private void checkProxy(LockClassRules rules, String name, Object bean, Class<?> type) {
		for (Method method : rules.lockedMethods(type)) {
			if (AopUtils.isCglibProxy(bean) && Modifier.isFinal(method.getModifiers())) {
				throw rules.error(method, type, "bean '" + name
						+ "' is proxied by a subclass, which cannot override a final method: it would run without the lock",
						"Remove final from the method");
			}
			// Nobody outside can call what a class-level annotation covers beyond the
			// interfaces; who annotates such a method expects that somebody does
			if (AopUtils.isJdkDynamicProxy(bean) && !isOnInterface(method, type, bean) && AnnotationLockOperationSource
				.isLocked(MergedAnnotations.from(method, SearchStrategy.SUPERCLASS))) {
				throw rules.error(method, type,
						"bean '" + name + "' is proxied by its interfaces, and the method is on none of them",
						"Declare the method on an interface, or use class proxies (spring.aop.proxy-target-class=true)");
			}
		}
	}

	private static boolean isOnInterface(Method method, Class<?> type, Object proxy) {
		return Proxy.isProxyClass(type) || AnnotationLockOperationSource.declarationsOnInterfaces(method, type)
			.stream()
			.anyMatch((declaration) -> declaration.getDeclaringClass().isInstance(proxy));
	}

	private static boolean isAdvised(Object bean, LockOperationSourceAdvisor advisor) {
		if (LockAdvice.allOf(bean).contains(advisor)) {
			return true;
		}
		// An opaque proxy does not show its advisors
		Object current = bean;
		while (current instanceof Advised) {
			current = AopProxyUtils.getSingletonTarget(current);
		}
		return current instanceof SpringProxy;
	}

	/**
	 * An annotated method needs a template: one that cannot be made is known now, not at
	 * the first call.
	 */
	private static void checkTemplate(ConfigurableListableBeanFactory beans, LockClassRules rules, Class<?> type) {
		if (beans.getBeanProvider(LockTemplate.class).getIfAvailable() == null) {
			throw rules.error(rules.anyLockedMethod(type), type, "there is no LockTemplate to take the lock with",
					"Add spring-boot-starter-data-redis, or set distributed-lock.store=memory, "
							+ "or switch all locks off with distributed-lock.enabled=false");
		}
	}

	/**
	 * Notes which singletons the container makes: other objects (the mocks of a test)
	 * come to be beans without being made, and nothing proxies them. Beans are made on
	 * several threads.
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
