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
		return EtcdLockStore.builder(() -> Clients.of(this.server.address()))
			.commandTimeout(Duration.ofSeconds(5))
			.connectTimeout(Duration.ofSeconds(10))
			.build();
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
