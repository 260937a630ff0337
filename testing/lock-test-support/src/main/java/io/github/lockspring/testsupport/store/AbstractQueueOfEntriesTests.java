package io.github.lockspring.testsupport.store;

import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.internal.base.MonotonicClock;
import io.github.lockspring.internal.queue.QueueLockStore;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of a {@link QueueLockStore} whose clock is {@link #now}.
 */
public abstract class AbstractQueueOfEntriesTests extends AbstractQueueingLockStoreTests {

	private final AtomicLong suspended = new AtomicLong();

	/** Returns the time of the store, in nanoseconds. */
	protected final long now() {
		return MonotonicClock.SYSTEM.getAsLong() + this.suspended.get();
	}

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

	@Test // defect 1
	void leaseEndsWhileTheMachineIsSuspended() {
		OwnerToken owner = holder();
		assertThat(renew(owner, LONG)).containsExactly(RenewResult.RENEWED);
		this.suspended.addAndGet(LONG.toNanos());
		assertThat(renew(owner, LONG)).containsExactly(RenewResult.NOT_OWNER);
	}

}
