package io.github.lockspring.autoconfigure;

import java.time.Duration;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import io.github.lockspring.redis.redlock.RedlockLockStore;
import io.github.lockspring.store.LockStore;
import io.lettuce.core.RedisURI;

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
@ConditionalOnClass({ RedisConnectionFactory.class, RedisURI.class, RedlockLockStore.class })
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
		RedlockLockStore.Builder builder = RedlockLockStore
			.builder(RedlockNodes.connect(properties.redlock(), beanFactory));
		try {
			return configure(builder, properties, environment).build();
		}
		catch (IllegalArgumentException ex) {
			throw PropertyChecks.secret("redlock.nodes", String.valueOf(ex.getMessage()),
					"Name three or five servers that are independent of each other; for one server, or one master"
							+ " with replicas, use distributed-lock.store=redis.");
		}
	}

	@Bean
	RedlockLeaseValidator lockspringRedlockLeaseValidator(DistributedLockProperties properties) {
		return new RedlockLeaseValidator(maxTtl(properties));
	}

	static RedlockLockStore.Builder configure(RedlockLockStore.Builder builder, DistributedLockProperties properties,
			Environment environment) {
		return builder.keyPrefix(properties.keyPrefix())
			.commandTimeout(LockTimeouts.command(properties, Store.REDLOCK, environment))
			.maxTtl(maxTtl(properties));
	}

	private static Duration maxTtl(DistributedLockProperties properties) {
		Duration maxTtl = properties.redlock().maxTtl();
		return (maxTtl != null) ? maxTtl : properties.ttl();
	}

}
