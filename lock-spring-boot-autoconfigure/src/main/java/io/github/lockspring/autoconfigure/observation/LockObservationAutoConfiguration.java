package io.github.lockspring.autoconfigure.observation;

import io.github.lockspring.autoconfigure.internal.ConditionalOnLocksEnabled;
import io.github.lockspring.autoconfigure.internal.LockTemplateDecorator;
import io.github.lockspring.autoconfigure.DistributedLockProperties;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.util.ClassUtils;

/**
 * Auto-configuration of the {@link LockObservationDocumentation observations} of locks,
 * which exist where the application has a tracer, unless
 * {@code distributed-lock.observation.enabled} says otherwise.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnLocksEnabled
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class LockObservationAutoConfiguration {

	private static final String TRACER = "io.micrometer.tracing.Tracer";

	@Bean
	LockTemplateDecorator lockspringLockTemplateDecorator(ListableBeanFactory beanFactory,
			DistributedLockProperties properties, ObjectProvider<ObservationRegistry> registries,
			ObjectProvider<LockObservationConvention> conventions) {
		DistributedLockProperties.Observation observation = properties.observation();
		return (template) -> {
			Boolean enabled = observation.enabled();
			return ((enabled != null) ? enabled : hasTracer(beanFactory)) ? new ObservedLockTemplate(template,
					() -> new ObservedLockTemplate.Settings(registries.getIfAvailable(() -> ObservationRegistry.NOOP),
							conventions.getIfAvailable(),
							new DefaultLockObservationConvention(observation.includeKey()),
							new LockStoreName(beanFactory).get()))
					: template;
		};
	}

	private static boolean hasTracer(ListableBeanFactory beanFactory) {
		ClassLoader classLoader = beanFactory.getClass().getClassLoader();
		return ClassUtils.isPresent(TRACER, classLoader) && beanFactory
			.getBeanNamesForType(ClassUtils.resolveClassName(TRACER, classLoader), true, false).length > 0;
	}

}
