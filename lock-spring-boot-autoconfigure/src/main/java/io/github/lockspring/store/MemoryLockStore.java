package io.github.lockspring.store;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import io.github.lockspring.store.AcquireAnswer.Acquired;
import io.github.lockspring.store.AcquireAnswer.Busy;
import io.github.lockspring.store.AcquireQuestion.Look;
import io.github.lockspring.store.ReleaseAnswer.NotOwner;
import io.github.lockspring.store.ReleaseAnswer.Released;

/**
 * Locks in the memory of one process: for tests, and for applications that run as one
 * instance. Does exactly what the shared stores do, leases, queue and fencing tokens
 * included, so that code does not notice the difference; several engines may use one
 * object and then exclude each other as instances of an application do.
 * <p>
 * Thread-safe, never blocks, always answers. Fencing tokens grow across restarts of the
 * process as long as its clock does.
 */
public final class MemoryLockStore implements LockStore {

	/*
	 * What belongs to one key is in one entry, read and changed only inside the map's
	 * compute for this key: that makes each question atomic. Messages are handed to the
	 * dispatcher inside it too, so that they leave in the order of the answers.
	 *
	 * An entry that says nothing any more (no lease that lasts, nobody queued) is removed
	 * by whoever touches it; leases that ran out and are never touched again by a sweep,
	 * each time the map has grown to twice its size after the last one. So there are
	 * never more than twice as many entries as are in use, and a few.
	 *
	 * Fencing tokens come from one counter for all keys, so that nothing has to be
	 * remembered about a key that nobody uses.
	 */

	private static final int LEAST_SIZE_TO_SWEEP = 64;

	private final Map<String, MemoryEntry> entries = new ConcurrentHashMap<>();

	private final MemoryInboxes inboxes = new MemoryInboxes();

	private final LongSupplier nanoTime;

	private final long startNanos;

	private final long startMicros;

	private final AtomicLong lastFence = new AtomicLong();

	private volatile int sweepAtSize = LEAST_SIZE_TO_SWEEP;

	/**
	 * Makes a store whose leases run by {@link System#nanoTime()}.
	 */
	public MemoryLockStore() {
		this(System::nanoTime);
	}

	/**
	 * Makes a store with another clock, for tests.
	 * @param nanoTime the time in nanoseconds from any moment on, never going back
	 */
	public MemoryLockStore(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
		this.startNanos = nanoTime.getAsLong();
		this.startMicros = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
	}

	@Override
	public AcquireAnswer acquire(AcquireQuestion question, Duration timeout) {
		AcquireAnswer[] answer = new AcquireAnswer[1];
		this.entries.compute(question.key(), (key, present) -> {
			long now = this.nanoTime.getAsLong();
			MemoryEntry entry = (present != null) ? present : new MemoryEntry();
			answer[0] = acquire(entry, question, now);
			return entry.isOver(now) ? null : entry;
		});
		sweepIfGrown();
		return answer[0];
	}

	private AcquireAnswer acquire(MemoryEntry entry, AcquireQuestion question, long now) {
		OwnerToken token = question.token();
		if (entry.isTaken(now) && !entry.isOwnedBy(token, now)) {
			if (question.look() != Look.ONCE) {
				entry.enqueue(token, now);
				entry.owner().ifPresent((owner) -> this.inboxes.wanted(question.key(), owner));
			}
			return new Busy(entry.remainingMillis(now), this.lastFence.get());
		}
		entry.take(token, question.ttl(), now);
		if (question.look() == Look.AGAIN) {
			entry.dequeue(token);
		}
		entry.fence = nextFence(now);
		return new Acquired(entry.fence);
	}

	@Override
	public ReleaseAnswer release(ReleaseQuestion question, Duration timeout) {
		ReleaseAnswer[] answer = { new NotOwner(0) };
		this.entries.computeIfPresent(question.key(), (key, entry) -> {
			long now = this.nanoTime.getAsLong();
			answer[0] = release(entry, question, now);
			return entry.isOver(now) ? null : entry;
		});
		return answer[0];
	}

	private ReleaseAnswer release(MemoryEntry entry, ReleaseQuestion question, long now) {
		OwnerToken token = question.token();
		if (!entry.isOwnedBy(token, now)) {
			entry.dequeue(token);
			return entry.isKeptFor(token, now) ? new Released() : new NotOwner(entry.fence);
		}
		if (question.lastFence() > entry.fence) {
			entry.fence = question.lastFence();
			this.lastFence.accumulateAndGet(entry.fence, Math::max);
		}
		if (!question.keep().isZero()) {
			entry.keep(question.keep(), now);
			return new Released();
		}
		entry.dequeue(token);
		entry.free();
		for (OwnerToken head = entry.poll(now); head != null; head = entry.poll(now)) {
			if (this.inboxes.isOpen(head.instance())) {
				entry.take(head, Duration.ofMillis(head.grantMillis()), now);
				entry.fence = nextFence(now);
				this.inboxes.granted(question.key(), head, entry.fence, entry.hasWaiters(now));
				break;
			}
		}
		return new Released();
	}

	@Override
	public List<RenewAnswer> renew(List<RenewQuestion> questions, Duration timeout) {
		return questions.stream().map(this::renew).toList();
	}

	private RenewAnswer renew(RenewQuestion question) {
		RenewAnswer[] answer = { RenewAnswer.NOT_OWNER };
		this.entries.computeIfPresent(question.key(), (key, entry) -> {
			long now = this.nanoTime.getAsLong();
			if (entry.isOwnedBy(question.token(), now)) {
				entry.take(question.token(), question.ttl(), now);
				answer[0] = RenewAnswer.RENEWED;
			}
			return entry.isOver(now) ? null : entry;
		});
		return answer[0];
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return Optional.of(this.inboxes.create(instance, listener));
	}

	/**
	 * Does nothing: other engines may use the store, and there is nothing to free.
	 */
	@Override
	public void close() {
		// see above
	}

	/**
	 * Time left of a lease, not positive if the lock is free.
	 */
	long remainingMillis(String key) {
		MemoryEntry entry = this.entries.get(key);
		return (entry != null) ? entry.remainingMillis(this.nanoTime.getAsLong()) : 0;
	}

	/**
	 * Number of keys about which something is stored.
	 */
	int size() {
		return this.entries.size();
	}

	private long nextFence(long now) {
		long micros = this.startMicros + TimeUnit.NANOSECONDS.toMicros(now - this.startNanos);
		return this.lastFence.updateAndGet((last) -> Math.max(last + 1, micros));
	}

	private void sweepIfGrown() {
		if (this.entries.size() < this.sweepAtSize) {
			return;
		}
		for (String key : this.entries.keySet()) {
			this.entries.computeIfPresent(key, (k, entry) -> entry.isOver(this.nanoTime.getAsLong()) ? null : entry);
		}
		this.sweepAtSize = Math.max(LEAST_SIZE_TO_SWEEP, 2 * this.entries.size());
	}

}
