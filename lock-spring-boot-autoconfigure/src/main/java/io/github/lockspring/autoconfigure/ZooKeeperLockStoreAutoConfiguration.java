package io.github.lockspring.autoconfigure;

import java.nio.charset.StandardCharsets;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Zookeeper;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.zookeeper.ZooKeeperLockStore;
import io.github.lockspring.zookeeper.ZooKeeperStoreSettings;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooDefs.Ids;

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

	private static final String ROOT = "/lockspring";

	@Bean
	@Lazy
	ZooKeeperLockStore lockspringZooKeeperLockStore(ObjectProvider<CuratorFramework> clients,
			DistributedLockProperties properties) {
		CuratorFramework client = clients.getIfAvailable();
		return (client != null) ? ZooKeeperLockStore.create(client, settings(properties))
				: ZooKeeperLockStore.createOwning(client(properties.getZookeeper()), settings(properties));
	}

	private static ZooKeeperStoreSettings settings(DistributedLockProperties properties) {
		Zookeeper zookeeper = properties.getZookeeper();
		return new ZooKeeperStoreSettings(properties.getKeyPrefix(), ROOT,
				(zookeeper.getAuth() != null) ? Ids.CREATOR_ALL_ACL : Ids.OPEN_ACL_UNSAFE,
				zookeeper.getSessionTimeout(), LockTimeouts.CONNECT);
	}

	private static CuratorFramework client(Zookeeper zookeeper) {
		CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder()
			.connectString(zookeeper.getConnectString())
			.sessionTimeoutMs((int) zookeeper.getSessionTimeout().toMillis())
			.connectionTimeoutMs((int) LockTimeouts.CONNECT.toMillis())
			// the store repeats its requests itself
			.retryPolicy(new RetryOneTime(1000));
		String auth = zookeeper.getAuth();
		if (auth != null) {
			int colon = auth.indexOf(':');
			builder.authorization(auth.substring(0, colon), auth.substring(colon + 1).getBytes(StandardCharsets.UTF_8));
		}
		return builder.build();
	}

}
