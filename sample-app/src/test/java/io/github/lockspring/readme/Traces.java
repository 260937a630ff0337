package io.github.lockspring.readme;

import io.github.lockspring.autoconfigure.observation.LockObservationContext;
import io.github.lockspring.autoconfigure.observation.LockObservationConvention;
import io.micrometer.common.KeyValues;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Spans that have the keys of their locks.
 */
@Configuration(proxyBeanMethods = false)
class Traces {

	@Bean
	LockObservationConvention keysInTraces() {
		return new LockObservationConvention() {

			@Override
			public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
				return KeyValues.of("lock.key", String.join(", ", context.getKeys()));
			}

		};
	}

}
