package io.github.lockspring.contract;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.memory.MemoryLockStore;
import io.github.lockspring.testsupport.store.AbstractQueueingLockStoreTests;

/**
 * The contract of stores as another project extends it: from its own module and package,
 * with public API only.
 */
class MemoryLockStoreContractTests extends AbstractQueueingLockStoreTests {

	private final AtomicLong advance = new AtomicLong();

	@Override
	protected LockStore createStore() {
		return new MemoryLockStore(() -> System.nanoTime() + this.advance.get());
	}

	@Override
	protected void loseEverything() {
		this.advance.addAndGet(Duration.ofHours(1).toNanos());
	}

	// the size of the store is not public; MemoryLockStoreTests looks at it
	@Override
	protected int leftovers() {
		return 0;
	}

}
