package io.github.lockspring.transaction;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireRequest;
import io.github.lockspring.store.AcquireResult;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.ReleaseRequest;
import io.github.lockspring.store.ReleaseResult;
import io.github.lockspring.store.RenewRequest;
import io.github.lockspring.store.RenewResult;
import io.github.lockspring.store.memory.MemoryLockStore;

/**
 * Locks in memory that count what they are asked, and can be lost.
 */
final class CountingStore implements LockStore {

	private final LockStore locks = new MemoryLockStore();

	final AtomicInteger looks = new AtomicInteger();

	final AtomicInteger renewals = new AtomicInteger();

	final AtomicInteger releases = new AtomicInteger();

	volatile boolean lost;

	volatile boolean silent;

	@Override
	public AcquireResult acquire(AcquireRequest request, Duration timeout) {
		this.looks.incrementAndGet();
		return this.locks.acquire(request, timeout);
	}

	@Override
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		this.releases.incrementAndGet();
		return this.locks.release(request, timeout);
	}

	@Override
	public List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		this.renewals.addAndGet(requests.size());
		if (this.silent) {
			throw new LockUnavailableException("no answer");
		}
		if (this.lost) {
			return requests.stream().map((request) -> RenewResult.NOT_OWNER).toList();
		}
		return this.locks.renew(requests, timeout);
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return this.locks.inbox(instance, listener);
	}

	@Override
	public void close() {
		this.locks.close();
	}

}
