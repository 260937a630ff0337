package io.github.lockspring.zookeeper;

import java.time.Duration;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.store.AbstractQueueOfEntriesTests;

/**
 * The contract, on a server with sessions whose first write proves its longest lease.
 */
class ZooKeeperLockStoreContractTests extends AbstractQueueOfEntriesTests {

	private static final Duration SESSION = Duration.ofMinutes(6);

	private final ZooKeeperTestServer server = ZooKeeperTestServer.shared();

	@Override
	protected LockStore createStore() {
		return ZooKeeperLockStore.builder(this.server.connectString()).sessionTimeout(SESSION).clock(this::now).build();
	}

	@Override
	protected void loseEverything() {
		this.server.deleteAll();
	}

	@Override
	protected int leftovers() {
		return this.server.entries();
	}

}
