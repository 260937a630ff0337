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

	@Override
	protected LockStore createStore() {
		return Clients.store(this::now);
	}

	/** New entries are on a short lease, see number 22. */
	@Override
	protected Duration longestFirstLease() {
		return Duration.ofSeconds(10);
	}

	@Override
	protected void loseEverything() {
		EtcdProcess.shared().deleteAll();
	}

	@Override
	protected int leftovers() {
		return EtcdProcess.shared().entries(this.key);
	}

}
