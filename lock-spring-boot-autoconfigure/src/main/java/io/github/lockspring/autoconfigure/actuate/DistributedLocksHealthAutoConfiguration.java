package io.github.lockspring.autoconfigure.actuate;

import java.time.InstantSource;

import io.github.lockspring.autoconfigure.internal.CreatedEngine;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of the health indicator {@code distributedLocks}.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnClass({ HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnEnabledHealthIndicator("distributedlocks")
public final class DistributedLocksHealthAutoConfiguration {

	/* Its name is what people see in the health of the application. */
	@Bean
	@ConditionalOnMissingBean(name = { "distributedLocksHealthIndicator", "distributedLocksHealthContributor" })
	DistributedLocksHealthIndicator distributedLocksHealthIndicator(ConfigurableListableBeanFactory beanFactory) {
		return new DistributedLocksHealthIndicator(new CreatedEngine(beanFactory), InstantSource.system());
	}

}
