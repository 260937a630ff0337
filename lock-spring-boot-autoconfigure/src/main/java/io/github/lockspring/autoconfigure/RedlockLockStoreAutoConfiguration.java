package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import io.github.lockspring.redis.redlock.RedlockLockStore;
import io.github.lockspring.store.LockStore;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Auto-configuration of the {@link LockStore} on several independent Redis servers. Needs
 * no connection of the application.
 *
 * @since 0.1
 */
@AutoConfiguration(afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ConditionalOnClass({ RedisConnectionFactory.class, RedlockLockStore.class })
@ConditionalOnLockStore(Store.REDLOCK)
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class RedlockLockStoreAutoConfiguration {

	/*
	 * Not lazy, unlike the other stores: it creates no connection factory of the
	 * application too early, and an invalid node must stop the start.
	 */
	@Bean
	@ConditionalOnMissingBean(LockStore.class)
	RedlockLockStore lockspringRedlockLockStore(DistributedLockProperties properties, BeanFactory beanFactory,
			Environment environment) {
		RedlockConnectionFactories factories = RedlockConnectionFactories.of(
				LockSslBundles.find(beanFactory, "redlock", properties.getRedlock().getSsl()), beanFactory,
				environment.getProperty("spring.data.redis.client-type"));
		List<RedisConnectionFactory> nodes = RedlockAddress.parse(properties.getRedlock())
			.stream()
			.map(factories::create)
			.toList();
		return configure(RedlockLockStore.builder(nodes), properties, environment).build();
	}

	@Bean
	RedlockLeaseValidator lockspringRedlockLeaseValidator(DistributedLockProperties properties) {
		return new RedlockLeaseValidator(maxTtl(properties));
	}

	static RedlockLockStore.Builder configure(RedlockLockStore.Builder builder, DistributedLockProperties properties,
			Environment environment) {
		return builder.keyPrefix(properties.getKeyPrefix())
			.commandTimeout(LockTimeouts.command(properties, Store.REDLOCK, environment))
			.maxTtl(maxTtl(properties));
	}

	private static Duration maxTtl(DistributedLockProperties properties) {
		Duration maxTtl = properties.getRedlock().getMaxTtl();
		return (maxTtl != null) ? maxTtl : properties.getTtl();
	}

}
