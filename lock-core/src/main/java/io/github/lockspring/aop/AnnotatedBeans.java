package io.github.lockspring.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Checks the beans of a bean factory: every annotated one must have been given the advice
 * of its annotation. It has to be registered before the first bean is created, since one
 * that is created too early to be proxied is noticed only then.
 *
 * @since 0.1
 */
public final class AnnotatedBeans {

	private static final Logger logger = LoggerFactory.getLogger(AnnotatedBeans.class);

	private final CreatedBeans createdBeans = new CreatedBeans();

	private final ConfigurableListableBeanFactory beanFactory;

	/**
	 * Creates the check and begins to note which beans are created.
	 * @param beanFactory the bean factory
	 */
	public AnnotatedBeans(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		beanFactory.addBeanPostProcessor(this.createdBeans);
	}

	/**
	 * Returns the bean factory.
	 * @return the bean factory whose beans are checked
	 */
	public ConfigurableListableBeanFactory beanFactory() {
		return this.beanFactory;
	}

	/**
	 * Visits every bean whose class is known, and stops noting which beans are created.
	 * To be called once all singletons exist. A scoped proxy is left out: it passes calls
	 * on to beans that are proxied themselves.
	 * @param action what to do with a bean
	 */
	public void forEach(Consumer<Bean> action) {
		Set<String> names = new LinkedHashSet<>(Arrays.asList(this.beanFactory.getBeanDefinitionNames()));
		names.addAll(Arrays.asList(this.beanFactory.getSingletonNames()));
		for (String name : names) {
			Object instance = this.beanFactory.containsSingleton(name) ? this.beanFactory.getSingleton(name) : null;
			Class<?> type = (instance != null) ? AopProxyUtils.ultimateTargetClass(instance) : typeOf(name);
			if (type != null && !(instance instanceof AopInfrastructureBean)) {
				action.accept(new Bean(name, type, instance, this.createdBeans.contains(name),
						this.beanFactory.containsBeanDefinition(name)));
			}
		}
		this.createdBeans.stop();
	}

	private @Nullable Class<?> typeOf(String name) {
		try {
			Class<?> type = this.beanFactory.getType(name, false);
			// The class of an instance is unknown unless this one can be instantiated
			return (type != null && !Modifier.isAbstract(type.getModifiers())) ? type : null;
		}
		catch (BeansException | LinkageError | IllegalStateException ex) {
			logger.debug("Annotations of bean '{}' are checked when it is created", name, ex);
			return null;
		}
	}

	/**
	 * Returns all advice of a bean, that of proxies behind a proxy included.
	 * @param bean a bean
	 * @return its advisors, outermost first; none if it shows none
	 */
	public static List<Advisor> advisorsOf(Object bean) {
		List<Advisor> advisors = new ArrayList<>();
		Object current = bean;
		while (current instanceof Advised advised) {
			advisors.addAll(Arrays.asList(advised.getAdvisors()));
			current = AopProxyUtils.getSingletonTarget(current);
		}
		return advisors;
	}

	/**
	 * A bean to check.
	 *
	 * @param name its name
	 * @param type its class, or the one that it will have
	 * @param instance the bean, or null if it is created later
	 * @param created whether the container has created it, which is not so for the mock
	 * of a test
	 * @param defined whether there is a bean definition, and not only a finished object
	 */
	public record Bean(String name, Class<?> type, @Nullable Object instance, boolean created, boolean defined) {

		/**
		 * Checks the class and returns whether it is annotated.
		 * @param pointcut matches the annotated methods
		 * @return whether it has annotated methods
		 * @throws io.github.lockspring.LockDefinitionException if an annotation is wrong
		 */
		public boolean isAnnotated(AnnotatedMethodPointcut pointcut) {
			try {
				return pointcut.matches(this.type);
			}
			catch (BeansException | LinkageError | IllegalStateException ex) {
				if (this.instance != null) {
					throw ex;
				}
				logger.debug("Annotations of bean '{}' are checked when it is created", this.name, ex);
				return false;
			}
		}

		/**
		 * Checks that a bean, if it exists already, has the advice of its annotation and
		 * that its proxy intercepts the annotated methods.
		 * @param advisor the advice
		 * @param pointcut matches the annotated methods, at least one
		 * @param finishedObjects whether to refuse, too, an object without advice that
		 * was registered finished and replaces no bean definition
		 * @throws io.github.lockspring.LockDefinitionException if a method would run
		 * without the advice
		 */
		public void checkAdvised(Advisor advisor, AnnotatedMethodPointcut pointcut, boolean finishedObjects) {
			Object bean = this.instance;
			if (bean == null) {
				return;
			}
			List<AnnotatedMethod> methods = pointcut.methods().in(this.type);
			if (isAdvised(bean, advisor)) {
				methods.forEach((method) -> checkProxy(bean, method, pointcut.methods()));
			}
			else if (this.created || (finishedObjects && !this.defined)) {
				AnnotatedMethod method = methods.get(0);
				throw method.error("bean '" + this.name + "' is not proxied, and " + method.model().consequence(),
						"It may have been created too early, for a bean post-processor: make that one's @Bean method static, "
								+ "or its dependency @Lazy. A finished object must be registered as a bean definition");
			}
		}

		private static boolean isAdvised(Object bean, Advisor advisor) {
			if (advisorsOf(bean).contains(advisor)) {
				return true;
			}
			// An opaque proxy does not show its advisors
			Object current = bean;
			while (current instanceof Advised) {
				current = AopProxyUtils.getSingletonTarget(current);
			}
			return current instanceof SpringProxy;
		}

		private void checkProxy(Object bean, AnnotatedMethod method, AnnotatedMethods<?, ?> methods) {
			if (AopUtils.isCglibProxy(bean) && Modifier.isFinal(method.method().getModifiers())) {
				throw method.error(
						"bean '" + this.name + "' is proxied by a subclass, which cannot override a final method: it "
								+ method.model().consequence(),
						"Remove final from the method");
			}
			// A class-level annotation also covers methods that nothing outside can call;
			// one on the method itself is meant to take effect
			if (AopUtils.isJdkDynamicProxy(bean) && !isOnInterface(bean, method.method())
					&& methods.isDirectlyAnnotated(method.method())) {
				throw method.error(
						"bean '" + this.name + "' is proxied by its interfaces, and the method is on none of them",
						"Declare the method on an interface, or use class proxies (spring.aop.proxy-target-class=true)");
			}
		}

		private boolean isOnInterface(Object bean, Method method) {
			return Proxy.isProxyClass(this.type) || ClassHierarchy.interfaceMethods(method, this.type)
				.stream()
				.anyMatch((declaration) -> declaration.getDeclaringClass().isInstance(bean));
		}

	}

	/**
	 * Notes which singletons the container creates. Beans are created on several threads.
	 */
	private static final class CreatedBeans implements BeanPostProcessor {

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
