package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.aop.WrongAnnotationException;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.MapPropertySource;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Application contexts with the annotation at work.
 */
final class LockContexts {

	private LockContexts() {
	}

	static AnnotationConfigApplicationContext start(Class<?>... beans) {
		return start((context) -> context.register(beans));
	}

	static AnnotationConfigApplicationContext start(Consumer<AnnotationConfigApplicationContext> customizer) {
		return start(true, customizer);
	}

	static AnnotationConfigApplicationContext startWithInterfaceProxies(Class<?>... beans) {
		return start(false, (context) -> context.register(beans));
	}

	private static AnnotationConfigApplicationContext start(boolean classProxies,
			Consumer<AnnotationConfigApplicationContext> customizer) {
		AnnotationConfigApplicationContext context = create(classProxies);
		context.register(LockConfiguration.class);
		try {
			customizer.accept(context);
			context.refresh();
			return context;
		}
		catch (RuntimeException ex) {
			context.close();
			throw ex;
		}
	}

	static AnnotationConfigApplicationContext create(boolean classProxies) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
		if (classProxies) {
			AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(context);
		}
		return context;
	}

	static Consumer<AnnotationConfigApplicationContext> properties(Map<String, Object> properties, Class<?>... beans) {
		return (context) -> {
			context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("test", new LinkedHashMap<>(properties)));
			context.register(beans);
		};
	}

	/**
	 * Starts a context that must not start.
	 * @param beans its beans
	 * @return why it did not
	 */
	static WrongAnnotationException failure(Class<?>... beans) {
		return failure((context) -> context.register(beans));
	}

	static WrongAnnotationException failure(Consumer<AnnotationConfigApplicationContext> customizer) {
		return cause(catchThrowable(() -> start(customizer).close()));
	}

	static WrongAnnotationException failureWithInterfaceProxies(Class<?>... beans) {
		return cause(catchThrowable(() -> startWithInterfaceProxies(beans).close()));
	}

	/**
	 * Finds what is wrong with the methods of a bean.
	 * @param type its class, or the interface of a proxy
	 * @return the mistakes by the names of the methods
	 */
	static Map<String, WrongAnnotationException> mistakes(Class<?> type) {
		Class<?> bean = type.isInterface() ? Proxy
			.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> null)
			.getClass() : type;
		try (AnnotationConfigApplicationContext context = create(true)) {
			context.registerBean("bean", bean);
			return LockAnnotationValidator.mistakes(context.getBeanFactory())
				.stream()
				.collect(Collectors.toMap((error) -> StringUtils.unqualify(error.mistake().method().split("\\(")[0]),
						Function.identity()));
		}
	}

	private static WrongAnnotationException cause(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof WrongAnnotationException definition) {
				return definition;
			}
		}
		throw new AssertionError("No WrongAnnotationException: " + failure, failure);
	}

	@Configuration(proxyBeanMethods = false)
	static class LockConfiguration {

		@Bean
		RecordingLocks locks() {
			return new RecordingLocks();
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static LockInterceptor lockInterceptor(ConfigurableBeanFactory beanFactory,
				ObjectProvider<LockTemplate> locks) {
			return new LockInterceptor(beanFactory, locks::getObject);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static LockOperationSourceAdvisor lockAdvisor(LockInterceptor interceptor) {
			return new LockOperationSourceAdvisor(interceptor);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static LockAnnotationValidator lockAnnotationValidator() {
			return new LockAnnotationValidator();
		}

	}

}
