package io.github.lockspring.etcd;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.store.AbstractLockTemplateTests;

/**
 * The contract of locks, on a server.
 */
@RequiresEtcd
class EtcdLockTemplateTests extends AbstractLockTemplateTests {

	@Override
	protected LockStore createStore() {
		return Clients.store(this::now);
	}

	@Override
	protected int leftovers() {
		return EtcdProcess.shared().entries(this.key);
	}

}
