package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.github.lockspring.internal.engine.support.LockRecorder.Command;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.store.StoreTraits;

/**
 * A store whose commands are timed. Thread-safe.
 *
 * @since 0.1
 */
public final class MeasuredStore implements LockStore {

	private final LockStore store;

	private final LockRecorder recorder;

	private final Time time;

	private MeasuredStore(LockStore store, LockRecorder recorder, Time time) {
		this.store = store;
		this.recorder = recorder;
		this.time = time;
	}

	/**
	 * Times the commands of a store.
	 * @param store the store
	 * @param recorder receives the times
	 * @param time the clock
	 * @return the store to use; the same one if nothing is recorded
	 */
	public static LockStore of(LockStore store, LockRecorder recorder, Time time) {
		return (recorder != LockRecorder.NONE) ? new MeasuredStore(store, recorder, time) : store;
	}

	@Override
	public StoreTraits traits() {
		return this.store.traits();
	}

	@Override
	public void connect() {
		this.store.connect();
	}

	@Override
	public void awaitConnection() {
		this.store.awaitConnection();
	}

	@Override
	public AcquireResult acquire(AcquireRequest request, Duration timeout) {
		return measured(Command.ACQUIRE, request.key(), () -> this.store.acquire(request, timeout));
	}

	@Override
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		return measured(Command.RELEASE, request.key(), () -> this.store.release(request, timeout));
	}

	@Override
	public Optional<CompletionStage<ReleaseResult>> releaseAsync(ReleaseRequest request) {
		long sent = this.time.nanoTime();
		return this.store.releaseAsync(request)
			.map((result) -> result.whenComplete((answer, failure) -> this.recorder.commanded(Command.RELEASE,
					this.store.shard(request.key()), failure == null, this.time.nanoTime() - sent)));
	}

	@Override
	public List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		// all of them are for one shard, as far as was known when they were collected
		return measured(Command.RENEW, requests.get(0).key(), () -> this.store.renew(requests, timeout));
	}

	private <T> T measured(Command command, String key, Supplier<T> request) {
		long sent = this.time.nanoTime();
		boolean answered = false;
		try {
			T result = request.get();
			answered = true;
			return result;
		}
		finally {
			this.recorder.commanded(command, this.store.shard(key), answered, this.time.nanoTime() - sent);
		}
	}

	@Override
	public String shard(String key) {
		return this.store.shard(key);
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return this.store.inbox(instance, listener);
	}

	@Override
	public Optional<LockStoreInspector> inspector() {
		return this.store.inspector();
	}

	@Override
	public Optional<StoreHealth> health(Duration timeout) {
		return this.store.health(timeout);
	}

	@Override
	public void close() {
		this.store.close();
	}

}
