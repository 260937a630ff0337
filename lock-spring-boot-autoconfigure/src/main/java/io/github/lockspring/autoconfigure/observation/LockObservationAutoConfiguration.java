package io.github.lockspring.autoconfigure.observation;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.autoconfigure.internal.ConditionalOnLocksEnabled;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;

/**
 * Auto-configuration of the observations of locks, which make spans: for applications
 * with a tracer.
 *
 * @since 0.1
 */
@AutoConfiguration(afterName = "org.springframework.boot.micrometer.tracing.autoconfigure.NoopTracerAutoConfiguration")
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(type = "io.micrometer.tracing.Tracer")
@ConditionalOnLocksEnabled
public final class LockObservationAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockObservationPostProcessor lockspringLockObservationPostProcessor(ListableBeanFactory beanFactory,
			ObjectProvider<ObservationRegistry> registries, ObjectProvider<LockObservationConvention> conventions) {
		return new LockObservationPostProcessor(beanFactory, registries, conventions);
	}

	/**
	 * Wraps the template, which may be created before any ordinary bean: the others are
	 * looked up at the first call.
	 */
	record LockObservationPostProcessor(ListableBeanFactory beanFactory, ObjectProvider<ObservationRegistry> registries,
			ObjectProvider<LockObservationConvention> conventions) implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof LockTemplate template) ? new ObservedLockTemplate(template, this::settings) : bean;
		}

		private ObservedLockTemplate.Settings settings() {
			return new ObservedLockTemplate.Settings(this.registries.getIfAvailable(() -> ObservationRegistry.NOOP),
					this.conventions.getIfAvailable(), new LockStoreName(this.beanFactory).get());
		}

	}

}
