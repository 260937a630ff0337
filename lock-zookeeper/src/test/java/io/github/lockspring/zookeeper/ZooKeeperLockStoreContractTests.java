package io.github.lockspring.zookeeper;

import java.time.Duration;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.store.AbstractQueueingLockStoreTests;

/**
 * The contract, on a server with sessions that are long enough for its longest leases.
 */
class ZooKeeperLockStoreContractTests extends AbstractQueueingLockStoreTests {

	private static final Duration SESSION = Duration.ofSeconds(150);

	private final ZooKeeperTestServer server = ZooKeeperTestServer.shared();

	@Override
	protected LockStore createStore() {
		return ZooKeeperLockStore.createOwning(this.server.client(SESSION), new ZooKeeperStoreSettings(SESSION));
	}

	@Override
	protected void loseEverything() {
		this.server.deleteAll();
	}

	@Override
	protected int leftovers() {
		return this.server.entries();
	}

	/** The places of later entries come from the server, and leave room for as many. */
	@Override
	protected long tokensOfAnOwnership() {
		return 1000;
	}

	@Override
	protected boolean knowsSubscribers() {
		return false;
	}

	@Override
	protected boolean knowsWaiters() {
		return false;
	}

	@Override
	protected boolean handsOverExpiredLocks() {
		return true;
	}

}
