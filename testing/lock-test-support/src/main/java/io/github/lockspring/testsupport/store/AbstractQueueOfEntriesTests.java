package io.github.lockspring.testsupport.store;

import io.github.lockspring.internal.queue.QueueLockStore;

/**
 * The contract of a {@link QueueLockStore}.
 */
public abstract class AbstractQueueOfEntriesTests extends AbstractQueueingLockStoreTests {

	/** The places of later entries come from the server, and leave room for as many. */
	@Override
	protected long tokensOfAnOwnership() {
		return 1000;
	}

	/** It is written when the entry is added. */
	@Override
	protected boolean showsFirstTtl() {
		return true;
	}

	@Override
	protected boolean hasEntries() {
		return true;
	}

}
