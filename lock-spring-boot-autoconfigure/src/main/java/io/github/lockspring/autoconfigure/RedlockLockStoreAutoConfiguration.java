package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.autoconfigure.internal.ConditionalOnFlag;
import io.github.lockspring.redis.redlock.RedlockLockStore;
import io.github.lockspring.redis.redlock.RedlockNode;
import io.github.lockspring.redis.redlock.RedlockSettings;
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
@ConditionalOnLockStore(DistributedLockProperties.Store.REDLOCK)
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
		RedlockConnectionFactories factories = RedlockConnectionFactories.of(beanFactory,
				environment.getProperty("spring.data.redis.client-type"));
		List<RedlockNode> nodes = properties.redlock()
			.addresses()
			.stream()
			.map((address) -> new RedlockNode(address.name(), factories.create(address)))
			.toList();
		return RedlockLockStore.create(nodes, settings(properties));
	}

	@Bean
	@ConditionalOnFlag(name = "distributed-lock.redlock.durable", byDefault = false, havingValue = false)
	RedlockLeaseValidator lockspringRedlockLeaseValidator(DistributedLockProperties properties) {
		return new RedlockLeaseValidator(longestTtl(properties));
	}

	private static RedlockSettings settings(DistributedLockProperties properties) {
		DistributedLockProperties.Redlock redlock = properties.redlock();
		return new RedlockSettings(properties.keyPrefix(), properties.redis().commandTimeout(),
				properties.redis().connectTimeout(), redlock.nodeTimeout(), redlock.clockDrift(),
				longestTtl(properties), redlock.durable());
	}

	private static Duration longestTtl(DistributedLockProperties properties) {
		Duration longestTtl = properties.redlock().longestTtl();
		return (longestTtl != null) ? longestTtl : properties.ttl();
	}

}
