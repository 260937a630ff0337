package io.github.lockspring.benchmarks.adapter;

import java.time.Duration;

import io.etcd.jetcd.Client;
import io.github.lockspring.LockRequest;
import io.github.lockspring.etcd.EtcdLockStore;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.zookeeper.ZooKeeperLockStore;

/**
 * This project's locks in ZooKeeper and in etcd, with the settings of an application that
 * sets nothing, except that callers wait for longer.
 */
final class LockspringQueueAdapter implements LockAdapter {

	private static final Duration WAIT_TIME = Duration.ofMinutes(1);

	private static final Duration SESSION = Duration.ofSeconds(15);

	private final LockStore store;

	private final LockEngine engine;

	private LockspringQueueAdapter(LockStore store, Servers servers) {
		EngineSettings defaults = EngineSettings.defaults();
		this.store = store;
		this.engine = new LockEngine(store, new EngineSettings(servers.ttl(), WAIT_TIME, defaults.maxHold(),
				Duration.ofSeconds(2), defaults.shutdownTimeout(), false), LockEvents.NOBODY);
	}

	static LockspringQueueAdapter onZooKeeper(Servers servers) {
		return new LockspringQueueAdapter(
				ZooKeeperLockStore.builder(servers.zooKeeper()).sessionTimeout(SESSION).build(), servers);
	}

	static LockspringQueueAdapter onEtcd(Servers servers) {
		return new LockspringQueueAdapter(EtcdLockStore
			.builder(() -> Client.builder().endpoints(servers.etcd()).waitForReady(false).retryMaxAttempts(1).build())
			.build(), servers);
	}

	@Override
	public void runLocked(String key, Runnable section) {
		this.engine.template().executeWithoutResult(LockRequest.of(key), (lock) -> section.run());
	}

	@Override
	public void close() {
		this.engine.close();
		this.store.close();
	}

}
