package io.github.lockspring.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.store.AcquireRequest;
import io.github.lockspring.store.AcquireResult;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseRequest;
import io.github.lockspring.store.ReleaseResult;
import io.github.lockspring.store.RenewRequest;
import io.github.lockspring.store.RenewResult;

/**
 * Store of a model: answers at once, so that every request is one step. Leases do not run
 * out by themselves here; whoever takes a lock away says so by {@link #rob}.
 */
final class ModelStore implements LockStore {

	private final Map<String, OwnerToken> owners = new ConcurrentHashMap<>();

	private final AtomicLong fencingToken = new AtomicLong();

	/** Releases that found the lock theirs. */
	final AtomicInteger released = new AtomicInteger();

	volatile RenewResult renewAnswer = RenewResult.RENEWED;

	@Override
	public AcquireResult acquire(AcquireRequest request, Duration timeout) {
		OwnerToken owner = this.owners.putIfAbsent(request.key(), request.token());
		if (owner == null || owner.equals(request.token())) {
			return new AcquireResult.Acquired(this.fencingToken.addAndGet(10_000));
		}
		return new AcquireResult.Busy(30_000, this.fencingToken.get());
	}

	@Override
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		if (this.owners.remove(request.key(), request.token())) {
			this.released.incrementAndGet();
			return new ReleaseResult.Released();
		}
		return new ReleaseResult.NotOwner(this.fencingToken.get());
	}

	@Override
	public List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		RenewResult answer = this.renewAnswer;
		List<RenewResult> answers = new ArrayList<>();
		requests.forEach((request) -> answers.add(answer));
		return answers;
	}

	boolean isFree(String key) {
		return !this.owners.containsKey(key);
	}

	/**
	 * The lock is gone, and somebody else may have had it.
	 * @return whether it was there
	 */
	boolean rob(String key) {
		this.fencingToken.addAndGet(10_000);
		return this.owners.remove(key) != null;
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return Optional.of(new Inbox() {

			@Override
			public void open() {
			}

			@Override
			public boolean isConfirmed() {
				return true;
			}

			@Override
			public void probe() {
			}

			@Override
			public void close() {
			}

		});
	}

	@Override
	public void close() {
	}

}
