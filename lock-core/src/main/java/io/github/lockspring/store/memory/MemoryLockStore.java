package io.github.lockspring.store.memory;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;

import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult.NotOwner;
import io.github.lockspring.store.LockStore.ReleaseResult.Released;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.store.StoreTraits;
import io.github.lockspring.store.StoredLock;

/**
 * Stores locks in the memory of one process, for tests and for applications with a single
 * instance. Behaves like the shared stores, including leases, queue and fencing tokens.
 * Several engines may share one object; they then exclude each other as the instances of
 * an application do.
 * <p>
 * Thread-safe. Never blocks and never fails. Fencing tokens keep growing across restarts
 * of the process, provided that its clock does.
 *
 * @since 0.1
 */
/*
 * For maintainers: each key has one entry, which is read and changed only inside the
 * map's compute for this key; this makes each request atomic. Messages are passed to the
 * dispatcher there too, so they are sent in the order of the results.
 *
 * A request removes an entry that it leaves without a valid lease and without waiters. A
 * sweep removes entries whose lease expired and that no request touches again; it runs
 * each time the map has doubled its size since the last sweep. So the map never has more
 * than about twice as many entries as are in use.
 *
 * Fencing tokens come from one counter for all keys, so unused keys leave nothing behind.
 */
public final class MemoryLockStore implements LockStore {

	private static final int MIN_SIZE_TO_SWEEP = 64;

	private final Map<String, MemoryEntry> entries = new ConcurrentHashMap<>();

	private final MemoryInboxes inboxes = new MemoryInboxes();

	private final MemoryInspector inspector = new MemoryInspector(this::find, this::forceRelease);

	private final LongSupplier nanoTime;

	private final long startNanos;

	private final long startMicros;

	private final AtomicLong lastFencingToken = new AtomicLong();

	private volatile int sweepAtSize = MIN_SIZE_TO_SWEEP;

	/**
	 * Creates a store that measures leases by {@link System#nanoTime()}.
	 */
	public MemoryLockStore() {
		this(System::nanoTime);
	}

	/**
	 * Creates a store with another clock, for tests.
	 * @param nanoTime a clock in nanoseconds that never goes backwards
	 */
	public MemoryLockStore(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
		this.startNanos = nanoTime.getAsLong();
		this.startMicros = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
	}

	@Override
	public StoreTraits traits() {
		return StoreTraits.exact().withOrdered(true);
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		AcquireResult result = atomically(request.key(), (entry, now) -> acquire(entry, request, now));
		sweepIfGrown();
		return CompletableFuture.completedFuture(result);
	}

	/** A key without an entry is free. */
	private <R> R atomically(String key, BiFunction<MemoryEntry, Long, R> step) {
		AtomicReference<R> result = new AtomicReference<>();
		this.entries.compute(key, (same, present) -> {
			long now = this.nanoTime.getAsLong();
			MemoryEntry entry = (present != null) ? present : new MemoryEntry();
			result.set(step.apply(entry, now));
			return entry.isOver(now) ? null : entry;
		});
		return result.get();
	}

	private AcquireResult acquire(MemoryEntry entry, AcquireRequest request, long now) {
		OwnerToken token = request.token();
		if (entry.isTaken(now) && !entry.isOwnedBy(token, now)) {
			if (request.queue()) {
				boolean added = entry.queue().add(token, now);
				if (!added || entry.queue().isAlone(token)) {
					entry.owner().ifPresent((owner) -> this.inboxes.wanted(request.key(), owner));
				}
			}
			return new Busy(entry.remainingMillis(now), this.lastFencingToken.get());
		}
		entry.take(token, request.ttl(), now);
		entry.queue().remove(token);
		return new Acquired(entry.fencedBy(nextFencingToken(now)));
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		return CompletableFuture
			.completedFuture(atomically(request.key(), (entry, now) -> release(entry, request, now)));
	}

	private ReleaseResult release(MemoryEntry entry, ReleaseRequest request, long now) {
		OwnerToken token = request.token();
		if (!entry.isOwnedBy(token, now)) {
			entry.queue().remove(token);
			return entry.isKeptFor(token, now) ? new Released() : new NotOwner(this.lastFencingToken.get());
		}
		if (request.lastFencingToken() > entry.fencingToken()) {
			this.lastFencingToken.accumulateAndGet(entry.fencedBy(request.lastFencingToken()), Math::max);
		}
		if (!request.keep().isZero()) {
			entry.keep(request.keep(), now);
			return new Released();
		}
		entry.free();
		handOver(entry, request.key(), now);
		return new Released();
	}

	private void handOver(MemoryEntry entry, String key, long now) {
		OwnerToken next;
		while ((next = entry.queue().poll(now)) != null) {
			if (!next.needsMessage() || this.inboxes.isOpen(next.instance())) {
				entry.take(next, Duration.ofMillis(next.grantMillis()), now);
				long fencingToken = entry.fencedBy(nextFencingToken(now));
				this.inboxes.granted(key, next, fencingToken, !entry.queue().isEmpty(now));
				return;
			}
		}
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		return CompletableFuture.completedFuture(requests.stream().map(this::renew).toList());
	}

	private RenewResult renew(RenewRequest request) {
		return atomically(request.key(), (entry, now) -> {
			if (!entry.isOwnedBy(request.token(), now)) {
				return RenewResult.NOT_OWNER;
			}
			entry.take(request.token(), request.ttl(), now);
			return RenewResult.RENEWED;
		});
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return Optional.of(this.inboxes.create(instance, listener));
	}

	@Override
	public Optional<LockStoreInspector> inspector() {
		return Optional.of(this.inspector);
	}

	@Override
	public Optional<StoreHealth> health(Duration timeout) {
		return Optional.of(new StoreHealth(List.of(), 0, true));
	}

	private Optional<StoredLock> find(String key) {
		return atomically(key, (entry, now) -> entry.describe(key, nextFencingToken(now), now));
	}

	private boolean forceRelease(StoredLock seen) {
		return atomically(seen.key(), (entry, now) -> {
			if (!entry.isTaken(now) || !entry.ownerText().equals(seen.owner())) {
				return false;
			}
			entry.fencedBy(nextFencingToken(now));
			entry.free();
			handOver(entry, seen.key(), now);
			return true;
		});
	}

	/**
	 * Has no effect: there is nothing to close, and other engines may use the store.
	 */
	@Override
	public void close() {
		// nothing to close
	}

	/**
	 * Returns the milliseconds left of a lease; zero if the lock is free.
	 */
	long remainingMillis(String key) {
		MemoryEntry entry = this.entries.get(key);
		return (entry != null) ? entry.remainingMillis(this.nanoTime.getAsLong()) : 0;
	}

	/**
	 * Returns the number of keys with an entry.
	 */
	int size() {
		return this.entries.size();
	}

	private long nextFencingToken(long now) {
		long micros = this.startMicros + TimeUnit.NANOSECONDS.toMicros(now - this.startNanos);
		return this.lastFencingToken.updateAndGet((last) -> Math.max(last + 1, micros));
	}

	private void sweepIfGrown() {
		if (this.entries.size() < this.sweepAtSize) {
			return;
		}
		for (String key : this.entries.keySet()) {
			this.entries.computeIfPresent(key, (k, entry) -> entry.isOver(this.nanoTime.getAsLong()) ? null : entry);
		}
		this.sweepAtSize = Math.max(MIN_SIZE_TO_SWEEP, 2 * this.entries.size());
	}

}
