package io.github.lockspring.store.memory;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoredLock;
import org.jspecify.annotations.Nullable;

/**
 * The state of one key: its owner, the end of the lease, and the waiters. Not
 * thread-safe.
 */
final class MemoryEntry {

	private final MemoryQueue queue = new MemoryQueue();

	private long fencingToken;

	private @Nullable OwnerToken holder;

	// the ownership has ended, but the lease has not
	private boolean kept;

	private long takenAt;

	private long leaseEnd;

	boolean isTaken(long now) {
		return this.holder != null && this.leaseEnd - now > 0;
	}

	boolean isOwnedBy(OwnerToken token, long now) {
		return isTaken(now) && !this.kept && token.equals(this.holder);
	}

	boolean isKeptFor(OwnerToken token, long now) {
		return isTaken(now) && this.kept && token.equals(this.holder);
	}

	Optional<OwnerToken> owner() {
		return this.kept ? Optional.empty() : Optional.ofNullable(this.holder);
	}

	/**
	 * Makes the token the owner. Extends the lease of a present owner, and never shortens
	 * it.
	 */
	void take(OwnerToken token, Duration ttl, long now) {
		long end = now + ttl.toNanos();
		if (!isOwnedBy(token, now)) {
			this.takenAt = now;
		}
		if (!isOwnedBy(token, now) || end - this.leaseEnd > 0) {
			this.leaseEnd = end;
		}
		this.holder = token;
		this.kept = false;
	}

	void keep(Duration keep, long now) {
		this.kept = true;
		this.leaseEnd = now + keep.toNanos();
	}

	void free() {
		this.holder = null;
	}

	MemoryQueue queue() {
		return this.queue;
	}

	long remainingMillis(long now) {
		return isTaken(now) ? Math.max(1, TimeUnit.NANOSECONDS.toMillis(this.leaseEnd - now)) : 0;
	}

	String ownerText() {
		return this.holder + (this.kept ? ".kept" : "");
	}

	/**
	 * Describes the lock.
	 * @param latest a fencing token at least as large as the owner's
	 * @return the lock; empty if it is free
	 */
	Optional<StoredLock> describe(String key, long latest, long now) {
		if (!isTaken(now)) {
			return Optional.empty();
		}
		List<String> waiting = this.queue.instances(now);
		return Optional.of(new StoredLock(key, ownerText(), Duration.ofNanos(this.leaseEnd - now),
				Duration.ofNanos(now - this.takenAt), latest, waiting.size(),
				waiting.subList(0, Math.min(waiting.size(), StoredLock.MAX_QUEUE))));
	}

	/**
	 * Returns whether the entry can be removed.
	 */
	boolean isOver(long now) {
		return !isTaken(now) && this.queue.isEmpty(now);
	}

	long fencingToken() {
		return this.fencingToken;
	}

	/** Stores the latest fencing token and returns it. */
	long fencedBy(long latest) {
		this.fencingToken = latest;
		return latest;
	}

}
