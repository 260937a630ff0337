package io.github.lockspring.zookeeper;

import java.time.Duration;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooKeeper;

/**
 * An instance of an application, with its locks in ZooKeeper.
 */
record ZooKeeperInstance(CuratorFramework client, ZooKeeperLockStore store,
		LockEngine engine) implements AutoCloseable {

	static ZooKeeperInstance on(String servers, Duration session) {
		CuratorFramework client = ZooKeeperTestServer.client(servers, session);
		ZooKeeperLockStore store = ZooKeeperLockStore.create(client, ZooKeeperTestServer.settings(session), true);
		EngineSettings defaults = EngineSettings.defaults();
		return new ZooKeeperInstance(client, store, new LockEngine(store, new EngineSettings(defaults.ttl(),
				defaults.waitTime(), null, Duration.ofSeconds(2), Duration.ofMillis(100), false), LockEvents.NOBODY));
	}

	LockTemplate locks() {
		return this.engine.template();
	}

	ZooKeeper session() {
		try {
			return this.client.getZookeeperClient().getZooKeeper();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		this.engine.close();
		this.store.close();
	}

}
