package io.github.lockspring.autoconfigure;

import io.github.lockspring.autoconfigure.internal.ConditionalOnLocksEnabled;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.fencing.FencedAnnotationValidator;
import io.github.lockspring.internal.fencing.FencedBeanPostProcessor;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of {@code @Fenced}. Needs no database, so the annotation is never
 * silently ignored.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnLocksEnabled
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public final class LockFencingAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedBeanPostProcessor lockspringFencedBeanPostProcessor(Environment environment,
			ObjectProvider<LockRecorder> recorders) {
		FencedBeanPostProcessor processor = new FencedBeanPostProcessor(
				(lock) -> recorders.ifAvailable((recorder) -> recorder.refused(lock.name(), LockRecorder.Guard.FENCE)));
		processor.setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
		return processor;
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedAnnotationValidator lockspringFencedAnnotationValidator() {
		return new FencedAnnotationValidator();
	}

}
