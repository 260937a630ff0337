package io.github.lockspring.autoconfigure.actuate;

import java.time.Duration;

import io.github.lockspring.autoconfigure.internal.CreatedEngine;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the endpoint {@code distributedlocks}.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnAvailableEndpoint(DistributedLocksEndpoint.class)
public final class DistributedLocksEndpointAutoConfiguration {

	/** For people, who can wait for longer than callers. */
	private static final Duration TIMEOUT = Duration.ofSeconds(2);

	@Bean
	DistributedLocksEndpoint lockspringDistributedLocksEndpoint(ConfigurableListableBeanFactory beanFactory) {
		return new DistributedLocksEndpoint(new CreatedEngine(beanFactory), TIMEOUT);
	}

}
