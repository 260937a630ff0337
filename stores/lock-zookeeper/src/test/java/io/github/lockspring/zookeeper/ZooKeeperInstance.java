package io.github.lockspring.zookeeper;

import java.time.Duration;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.base.MonotonicClock;
import io.github.lockspring.testsupport.store.Instance;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooKeeper;

/**
 * An instance of an application, with its locks in ZooKeeper.
 */
record ZooKeeperInstance(CuratorFramework client, ZooKeeperLockStore store,
		Instance instance) implements AutoCloseable {

	static ZooKeeperInstance on(String servers, Duration session) {
		CuratorFramework client = ZooKeeperTestServer.client(servers, session);
		ZooKeeperLockStore store = ZooKeeperLockStore.create(client, ZooKeeperTestServer.settings(session), true,
				MonotonicClock.SYSTEM);
		return new ZooKeeperInstance(client, store,
				Instance.over(store)
					.commandTimeout(Duration.ofSeconds(2))
					.shutdownTimeout(Duration.ofMillis(100))
					.start());
	}

	LockTemplate locks() {
		return this.instance.locks();
	}

	ZooKeeper session() {
		return ZooKeeperTestServer.get(this.client.getZookeeperClient()::getZooKeeper);
	}

	@Override
	public void close() {
		this.instance.close();
	}

}
