package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;

/**
 * Store of a model: answers at once, so that every request is one step. Leases do not
 * end; a model takes a lock away by {@link #rob}.
 */
final class ModelStore extends ScriptedStore {

	private final Map<String, OwnerToken> owners = new ConcurrentHashMap<>();

	private final AtomicLong fencingToken = new AtomicLong();

	/** How many releases found the lock of their token. */
	final AtomicInteger releases = new AtomicInteger();

	/** What no caller waits for is an operation of its own. */
	ModelStore() {
		this.traits = StoreTraits.exact().withBlocking(true);
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		OwnerToken owner = this.owners.putIfAbsent(request.key(), request.token());
		if (owner == null || owner.equals(request.token())) {
			return CompletableFuture.completedFuture(new AcquireResult.Acquired(this.fencingToken.addAndGet(10_000)));
		}
		return CompletableFuture.completedFuture(new AcquireResult.Busy(30_000, this.fencingToken.get()));
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		if (this.owners.remove(request.key(), request.token())) {
			this.releases.incrementAndGet();
			return CompletableFuture.completedFuture(new ReleaseResult.Released());
		}
		return CompletableFuture.completedFuture(new ReleaseResult.NotOwner(this.fencingToken.get()));
	}

	boolean isFree(String key) {
		return !this.owners.containsKey(key);
	}

	/**
	 * Takes a lock away, as if another instance had acquired and released it since.
	 * @return whether the lock was held
	 */
	boolean rob(String key) {
		this.fencingToken.addAndGet(10_000);
		return this.owners.remove(key) != null;
	}

}
