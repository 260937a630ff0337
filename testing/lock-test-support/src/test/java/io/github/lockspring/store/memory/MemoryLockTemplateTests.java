package io.github.lockspring.store.memory;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.store.AbstractLockTemplateTests;

/**
 * The contract of locks, in memory.
 */
class MemoryLockTemplateTests extends AbstractLockTemplateTests {

	private final MemoryLockStore store = new MemoryLockStore();

	@Override
	protected LockStore createStore() {
		return this.store;
	}

	@Override
	protected int leftovers() {
		return this.store.size();
	}

}
