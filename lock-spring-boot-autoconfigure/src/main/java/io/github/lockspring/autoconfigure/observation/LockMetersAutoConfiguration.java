package io.github.lockspring.autoconfigure.observation;

import java.util.Set;

import io.github.lockspring.autoconfigure.ConditionalOnLocksEnabled;
import io.github.lockspring.engine.support.LockRecorder;
import io.github.lockspring.interceptor.LockInterceptor;
import io.micrometer.core.instrument.MeterRegistry;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the {@link LockMeterDocumentation meters} of locks.
 *
 * @since 0.1
 */
@AutoConfiguration(
		afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
@ConditionalOnLocksEnabled
public final class LockMetersAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(LockRecorder.class)
	LockMeters lockspringLockMeters(ListableBeanFactory beanFactory, ObjectProvider<LockInterceptor> interceptors) {
		return new LockMeters(new LockStoreName(beanFactory), () -> {
			LockInterceptor interceptor = interceptors.getIfAvailable();
			return (interceptor != null) ? interceptor.lockNames() : Set.of();
		});
	}

}
