package io.github.lockspring.autoconfigure;

import io.github.lockspring.fencing.FencedAnnotationValidator;
import io.github.lockspring.fencing.FencedBeanPostProcessor;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of what {@code @Fenced} does. It needs no database, so that the
 * annotation is not silently ignored where there is none.
 */
@AutoConfiguration
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public final class LockFencingAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedBeanPostProcessor fencedBeanPostProcessor(Environment environment) {
		FencedBeanPostProcessor processor = new FencedBeanPostProcessor();
		processor.setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
		return processor;
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedAnnotationValidator fencedAnnotationValidator() {
		return new FencedAnnotationValidator();
	}

}
