package io.github.lockspring.testsupport.store;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;

/**
 * Sends requests to a store and waits for their results, a second longer than the timeout
 * that the store is given. Each method throws {@link LockUnavailableException} without a
 * result.
 *
 * @param store the store
 * @since 0.1
 */
public record JoinedStore(LockStore store) {

	/** Acquires a lock. */
	public AcquireResult acquire(AcquireRequest request, Duration timeout) {
		return Stages.join(this.store.acquire(request, timeout), timeout.plusSeconds(1));
	}

	/** Releases a lock. */
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		return Stages.join(this.store.release(request, timeout), timeout.plusSeconds(1));
	}

	/** Renews locks. */
	public List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		return Stages.join(this.store.renew(requests, timeout), timeout.plusSeconds(1));
	}

}
