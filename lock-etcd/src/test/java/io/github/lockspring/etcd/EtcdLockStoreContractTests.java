package io.github.lockspring.etcd;

import java.time.Duration;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.store.AbstractQueueingLockStoreTests;

/**
 * The contract, on a server.
 */
@RequiresEtcd
class EtcdLockStoreContractTests extends AbstractQueueingLockStoreTests {

	private final EtcdProcess server = EtcdProcess.shared();

	@Override
	protected LockStore createStore() {
		return EtcdLockStore.createOwning(Clients.of(this.server.address()),
				new EtcdStoreSettings("lock:", "lockspring", Duration.ofSeconds(5), Duration.ofSeconds(10)));
	}

	@Override
	protected void loseEverything() {
		this.server.deleteAll();
	}

	@Override
	protected int leftovers() {
		return this.server.entries(this.key);
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
