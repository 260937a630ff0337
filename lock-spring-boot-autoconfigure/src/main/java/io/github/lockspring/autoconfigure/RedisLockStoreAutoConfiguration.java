package io.github.lockspring.autoconfigure;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.store.LockStore;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.NamedBeanHolder;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.StringUtils;

/**
 * Auto-configuration of the {@link LockStore} on the application's Redis.
 *
 * @since 0.1
 */
@AutoConfiguration(afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@ConditionalOnClass({ RedisConnectionFactory.class, RedisLockStore.class })
@ConditionalOnLockStore(Store.REDIS)
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class RedisLockStoreAutoConfiguration {

	@Bean
	@Lazy
	@ConditionalOnMissingBean(LockStore.class)
	@ConditionalOnSingleCandidate(RedisConnectionFactory.class)
	RedisLockStore lockspringRedisLockStore(ConfigurableListableBeanFactory beanFactory,
			DistributedLockProperties properties, Environment environment) {
		NamedBeanHolder<RedisConnectionFactory> factory = beanFactory.resolveNamedBean(RedisConnectionFactory.class);
		boolean several = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory,
				RedisConnectionFactory.class).length > 1;
		try {
			RedisLockStore.Builder builder = configure(RedisLockStore.builder(factory.getBeanInstance()), properties,
					environment);
			return (several ? builder.name(factory.getBeanName()) : builder).build();
		}
		catch (UnsupportedOperationException ex) {
			throw PropertyChecks.invalid("redis.replica-acks", properties.redis().replicaAcks(),
					StringUtils.capitalize(String.valueOf(ex.getMessage())),
					"Leave the property out, or connect to a single server or through Sentinel");
		}
	}

	static RedisLockStore.Builder configure(RedisLockStore.Builder builder, DistributedLockProperties properties,
			Environment environment) {
		return builder.keyPrefix(properties.keyPrefix())
			.commandTimeout(LockTimeouts.command(properties, Store.REDIS, environment))
			.replicaAcks(properties.redis().replicaAcks());
	}

}
