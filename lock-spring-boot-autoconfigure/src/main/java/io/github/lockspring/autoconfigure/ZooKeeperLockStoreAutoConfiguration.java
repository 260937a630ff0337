package io.github.lockspring.autoconfigure;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Zookeeper;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.zookeeper.ZooKeeperLockStore;
import org.apache.curator.framework.CuratorFramework;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/**
 * Auto-configuration of the {@link LockStore} in ZooKeeper: on the application's
 * {@link CuratorFramework} bean, or on a connection of its own.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnClass({ ZooKeeperLockStore.class, CuratorFramework.class })
@ConditionalOnLockStore(DistributedLockProperties.Store.ZOOKEEPER)
@ConditionalOnMissingBean(LockStore.class)
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class ZooKeeperLockStoreAutoConfiguration {

	@Bean
	@Lazy
	ZooKeeperLockStore lockspringZooKeeperLockStore(ObjectProvider<CuratorFramework> clients,
			DistributedLockProperties properties) {
		CuratorFramework client = clients.getIfAvailable();
		return configure((client != null) ? ZooKeeperLockStore.builder(client)
				: ZooKeeperLockStore.builder(properties.zookeeper().connectString()), properties)
			.build();
	}

	static ZooKeeperLockStore.Builder configure(ZooKeeperLockStore.Builder builder,
			DistributedLockProperties properties) {
		Zookeeper zookeeper = properties.zookeeper();
		builder.keyPrefix(properties.keyPrefix()).sessionTimeout(zookeeper.sessionTimeout());
		return (zookeeper.auth() != null) ? builder.auth(zookeeper.auth()) : builder;
	}

}
