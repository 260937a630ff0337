package io.github.lockspring.zookeeper;

import java.time.Duration;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.store.AbstractLockTemplateTests;

/**
 * The contract of locks, on a server with sessions as short as a brief lease.
 */
class ZooKeeperLockTemplateTests extends AbstractLockTemplateTests {

	private static final Duration SESSION = Duration.ofSeconds(2);

	private final ZooKeeperTestServer server = ZooKeeperTestServer.shared();

	@Override
	protected LockStore createStore() {
		return ZooKeeperLockStore.builder(this.server.connectString()).sessionTimeout(SESSION).build();
	}

	@Override
	protected int leftovers() {
		return this.server.entries();
	}

}
