package io.github.lockspring.etcd;

import java.time.Duration;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.store.AbstractQueueOfEntriesTests;

/**
 * The contract, on a server.
 */
@RequiresEtcd
class EtcdLockStoreContractTests extends AbstractQueueOfEntriesTests {

	private final EtcdProcess server = EtcdProcess.shared();

	@Override
	protected LockStore createStore() {
		return EtcdLockStore.createOwning(() -> Clients.of(this.server.address()),
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

}
