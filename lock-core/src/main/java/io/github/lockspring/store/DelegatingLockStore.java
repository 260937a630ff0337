package io.github.lockspring.store;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * Passes all requests on to another store. Decorators override the methods they observe
 * or change.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @since 0.1
 */
public abstract class DelegatingLockStore implements LockStore {

	private final LockStore delegate;

	/**
	 * Creates a store.
	 * @param delegate the store that receives the requests; closed with this store
	 */
	protected DelegatingLockStore(LockStore delegate) {
		this.delegate = delegate;
	}

	@Override
	public StoreTraits traits() {
		return this.delegate.traits();
	}

	@Override
	public Duration lease(Duration ttl) {
		return this.delegate.lease(ttl);
	}

	@Override
	public CompletionStage<@Nullable Void> connected() {
		return this.delegate.connected();
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		return this.delegate.acquire(request, timeout);
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		return this.delegate.release(request, timeout);
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		return this.delegate.renew(requests, timeout);
	}

	@Override
	public String shard(String key) {
		return this.delegate.shard(key);
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return this.delegate.inbox(instance, listener);
	}

	@Override
	public Optional<LockStoreInspector> inspector() {
		return this.delegate.inspector();
	}

	@Override
	public Optional<StoreHealth> health(Duration timeout) {
		return this.delegate.health(timeout);
	}

	@Override
	public void close() {
		this.delegate.close();
	}

}
