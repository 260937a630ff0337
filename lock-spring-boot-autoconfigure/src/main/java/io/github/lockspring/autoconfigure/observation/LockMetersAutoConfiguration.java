package io.github.lockspring.autoconfigure.observation;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockspring.autoconfigure.internal.ConditionalOnLocksEnabled;
import io.github.lockspring.autoconfigure.observation.LockObservationContext.Phase;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.interceptor.LockInterceptor;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the meters of locks.
 *
 * @since 0.1
 */
@AutoConfiguration(
		afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
@ConditionalOnLocksEnabled
public final class LockMetersAutoConfiguration {

	/*
	 * Observations make spans, and meters count: with both, each lock would be counted
	 * twice.
	 */
	@Bean
	static MeterFilter lockspringMeterFilter() {
		Set<String> observations = Arrays.stream(Phase.values())
			.map(Phase::observation)
			.flatMap((name) -> Stream.of(name, name + ".active"))
			.collect(Collectors.toUnmodifiableSet());
		return MeterFilter.deny((id) -> observations.contains(id.getName()));
	}

	@Bean
	@ConditionalOnMissingBean(LockRecorder.class)
	LockMeters lockspringLockMeters(ListableBeanFactory beanFactory, ObjectProvider<LockInterceptor> interceptors,
			ObjectProvider<MeterRegistry> registries) {
		return new LockMeters(new LockStoreName(beanFactory), () -> {
			LockInterceptor interceptor = interceptors.getIfAvailable();
			return (interceptor != null) ? interceptor.lockNames() : Set.of();
		}, () -> registries.stream().toList());
	}

}
