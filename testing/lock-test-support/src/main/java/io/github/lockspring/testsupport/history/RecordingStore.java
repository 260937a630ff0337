package io.github.lockspring.testsupport.history;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.store.DelegatingLockStore;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;

/**
 * Records when a store grants a lock, before the engine knows it. Holders cannot record
 * that: a holder may get the lock from another one of its process that never worked under
 * it. Thread-safe.
 *
 * @since 0.1
 */
public final class RecordingStore extends DelegatingLockStore {

	private final EventLog events;

	private final boolean remembers;

	/** When each token that may be granted by a message was asked for first. */
	private final Map<OwnerToken, Long> asked = new ConcurrentHashMap<>();

	/**
	 * Creates a store that passes everything on to the given one.
	 * @param remembers whether that store may answer an attempt by what it has found for
	 * an earlier one of the same token, without a request; then the acquisition is as old
	 * as the first attempt
	 */
	public RecordingStore(LockStore store, EventLog events, boolean remembers) {
		super(store);
		this.events = events;
		this.remembers = remembers;
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		long sent = System.nanoTime();
		Long first = request.queue() ? this.asked.putIfAbsent(request.token(), sent) : null;
		long asked = (this.remembers && first != null) ? first : sent;
		return super.acquire(request, timeout).thenApply((answer) -> {
			if (answer instanceof AcquireResult.Acquired acquired) {
				this.events.acquired(request.key(), acquired.fencingToken(), asked, acquired.lease(request));
			}
			return answer;
		});
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		this.asked.remove(request.token());
		return super.release(request, timeout);
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return super.inbox(instance, new InboxListener() {

			@Override
			public void granted(String key, OwnerToken token, long fencingToken, boolean othersWait) {
				Long asked = RecordingStore.this.asked.get(token);
				if (asked != null) {
					RecordingStore.this.events.acquired(key, fencingToken, asked,
							Duration.ofMillis(token.grantMillis()));
				}
				listener.granted(key, token, fencingToken, othersWait);
			}

			@Override
			public void wanted(String key, OwnerToken token) {
				listener.wanted(key, token);
			}

			@Override
			public void opened() {
				listener.opened();
			}

		});
	}

}
