package io.github.lockspring.internal.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
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
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.PriorityOrdered;
import org.springframework.util.Assert;

/**
 * Checks the beans of a bean factory once all singletons exist: every annotated one must
 * have been given the advice of its annotation.
 * <p>
 * To be defined by a static {@code @Bean} method, since it is a
 * {@link BeanFactoryPostProcessor}: beans that are created too early to be proxied are
 * noticed only if this is created before them. It is called before the other ones, which
 * may create beans.
 *
 * @since 0.1
 */
public abstract class AnnotatedBeanValidator
		implements BeanFactoryPostProcessor, PriorityOrdered, SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(AnnotatedBeanValidator.class);

	private final CreatedBeans createdBeans = new CreatedBeans();

	private @Nullable ConfigurableListableBeanFactory beanFactory;

	@Override
	public final int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	/**
	 * Begins to note which beans are created.
	 */
	@Override
	public final void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		beanFactory.addBeanPostProcessor(this.createdBeans);
	}

	@Override
	public final void afterSingletonsInstantiated() {
		Assert.state(this.beanFactory != null,
				() -> getClass().getSimpleName() + " was not called as a BeanFactoryPostProcessor");
		validate(this.beanFactory);
		this.createdBeans.stop();
	}

	/**
	 * Validates the beans.
	 * @param beanFactory the bean factory
	 * @throws io.github.lockspring.LockDefinitionException if a method would run without
	 * the advice of its annotation
	 */
	protected abstract void validate(ConfigurableListableBeanFactory beanFactory);

	/**
	 * Visits every bean whose class is known, twice if it has two classes, and the
	 * products of factory beans that exist already. A scoped proxy is left out: it passes
	 * calls on to beans that are proxied themselves.
	 * @param beanFactory the bean factory
	 * @param action what to do with a bean
	 */
	protected final void forEachBean(ConfigurableListableBeanFactory beanFactory, Consumer<Bean> action) {
		Set<String> names = new LinkedHashSet<>(Arrays.asList(beanFactory.getBeanDefinitionNames()));
		names.addAll(Arrays.asList(beanFactory.getSingletonNames()));
		for (String name : names) {
			boolean defined = beanFactory.containsBeanDefinition(name);
			Object instance = beanFactory.containsSingleton(name) ? beanFactory.getSingleton(name) : null;
			if (instance == null) {
				Class<?> type = typeOf(name, beanFactory);
				if (type != null) {
					action.accept(new Bean(name, type, null, this.createdBeans.names.contains(name), defined));
				}
				continue;
			}
			visit(name, instance, this.createdBeans.names.contains(name), defined, action);
			if (instance instanceof FactoryBean<?> factory && factory.isSingleton()
					&& this.createdBeans.products.contains(name)) {
				visit(name, beanFactory.getBean(name), true, defined, action);
			}
		}
	}

	private static void visit(String name, Object instance, boolean created, boolean defined, Consumer<Bean> action) {
		if (!(instance instanceof AopInfrastructureBean)) {
			for (Class<?> type : ProxyChain.typesOf(instance)) {
				action.accept(new Bean(name, type, instance, created, defined));
			}
		}
	}

	/**
	 * Returns the class of a bean that may not exist yet.
	 * @param name the name of the bean
	 * @param beanFactory the bean factory
	 * @return the class, or null if it is not known
	 */
	protected static @Nullable Class<?> typeOf(String name, ConfigurableListableBeanFactory beanFactory) {
		try {
			Class<?> type = beanFactory.getType(name, false);
			// The class of an instance is unknown unless this one can be instantiated
			return (type != null && !Modifier.isAbstract(type.getModifiers())) ? type : null;
		}
		catch (BeansException | LinkageError | IllegalStateException ex) {
			logger.debug("Annotations of bean '{}' are checked when it is created", name, ex);
			return null;
		}
	}

	/**
	 * A bean to check.
	 *
	 * @param name its name
	 * @param type its class, one of two, or the one that it will have
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
			if (ProxyChain.hasAdvisor(bean, advisor)) {
				methods.forEach((method) -> checkProxy(bean, method, pointcut.methods()));
			}
			else if (this.created || (finishedObjects && !this.defined)) {
				AnnotatedMethod method = methods.get(0);
				throw method.error("bean '" + this.name + "' is not proxied, and " + method.model().consequence(),
						"It may have been created too early, for a bean post-processor: make that one's @Bean method static, "
								+ "or its dependency @Lazy. A finished object must be registered as a bean definition");
			}
		}

		private void checkProxy(Object bean, AnnotatedMethod method, AnnotatedMethods<?> methods) {
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

		private final Set<String> names = ConcurrentHashMap.newKeySet();

		/** The factory beans that have given their product. */
		private final Set<String> products = ConcurrentHashMap.newKeySet();

		private volatile boolean stopped;

		@Override
		public Object postProcessBeforeInitialization(Object bean, String beanName) throws BeansException {
			if (!this.stopped) {
				this.names.add(beanName);
			}
			return bean;
		}

		/** The product of a factory bean is not initialized before. */
		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) throws BeansException {
			if (!this.stopped && !(bean instanceof FactoryBean)) {
				this.products.add(beanName);
			}
			return bean;
		}

		void stop() {
			this.stopped = true;
			this.names.clear();
			this.products.clear();
		}

	}

}
