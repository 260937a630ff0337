package io.github.lockspring.internal.interceptor;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

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
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
		if (classProxies) {
			AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(context);
		}
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
