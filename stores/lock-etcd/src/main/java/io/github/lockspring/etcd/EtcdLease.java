package io.github.lockspring.etcd;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import org.jspecify.annotations.Nullable;

/**
 * A lease of this process, shared by keys of many locks. Thread-safe.
 * <p>
 * Its guard is a key with this lease. An addition compares the revision at which the
 * guard was last put, so putting it again rejects all earlier additions. A renewal proves
 * the lease only if the guard is read afterwards.
 */
final class EtcdLease {

	/** Servers extend shorter leases to one and a half election timeouts, rounded up. */
	static final long MIN_SECONDS = 2;

	private static final long[] LENGTHS = { MIN_SECONDS, 3, 5, 10, 15, 30, 60, 120, 300, 600 };

	private final long id;

	private final long seconds;

	private final ByteSequence guard;

	/**
	 * The users of this lease: entries, additions without an answer, and an object for
	 * each call that is under way.
	 */
	private final Set<Object> users = ConcurrentHashMap.newKeySet();

	private volatile long guardRevision;

	private volatile long provenUntil;

	private volatile boolean lost;

	private volatile boolean used = true;

	/**
	 * Creates a lease that was granted.
	 * @param sent when the request for it was sent
	 * @param guardRevision the revision at which its guard was put
	 */
	EtcdLease(long id, long seconds, ByteSequence guard, long sent, long guardRevision) {
		this.id = id;
		this.seconds = seconds;
		this.guard = guard;
		this.guardRevision = guardRevision;
		this.provenUntil = sent + TimeUnit.SECONDS.toNanos(seconds);
	}

	/**
	 * Rounds the length of a lease up, so that different lengths need few leases.
	 */
	static long seconds(long millis) {
		long least = (millis + 999) / 1000;
		for (long length : LENGTHS) {
			if (length >= least) {
				return length;
			}
		}
		long length = LENGTHS[LENGTHS.length - 1];
		while (length < least) {
			length *= 2;
		}
		return length;
	}

	long id() {
		return this.id;
	}

	long seconds() {
		return this.seconds;
	}

	ByteSequence guard() {
		return this.guard;
	}

	long guardRevision() {
		return this.guardRevision;
	}

	/** Returns the earlier of two times. */
	static long earlier(long a, long b) {
		return (a - b <= 0) ? a : b;
	}

	/** Returns the time until which the servers are proven to keep the lease. */
	long provenUntil() {
		return this.provenUntil;
	}

	/**
	 * Returns whether it has to be renewed to last until the given time, or because less
	 * than two thirds of it are left. One without a guard, of an entry that is only kept,
	 * is never renewed.
	 */
	boolean isDue(long now, long until) {
		long twoThirds = TimeUnit.SECONDS.toNanos(this.seconds) * 2 / 3;
		return !this.guard.isEmpty() && (this.provenUntil - until < 0 || this.provenUntil - now < twoThirds);
	}

	/** Returns whether the lease is gone, or has to be taken for gone. */
	boolean isLost() {
		return this.lost;
	}

	/**
	 * The lease is gone, and with it all entries that may be on it.
	 * @return false if that was known
	 */
	boolean lose() {
		synchronized (this) {
			if (this.lost) {
				return false;
			}
			this.lost = true;
		}
		for (Object user : this.users) {
			if (user instanceof EtcdEntry.Mine mine) {
				mine.end();
			}
		}
		return true;
	}

	/**
	 * Notes the guard as it was read.
	 * @return whether it is on this lease; otherwise, the lease is gone
	 */
	boolean noteGuard(@Nullable KeyValue read) {
		if (read == null || read.getLease() != this.id) {
			return false;
		}
		guardPut(read.getModRevision());
		return true;
	}

	/** Notes that the guard was put; answers may arrive in any order. */
	synchronized void guardPut(long revision) {
		this.guardRevision = Math.max(this.guardRevision, revision);
	}

	/** Notes a proof: a renewal that was sent at the given time. */
	synchronized void proven(long sent) {
		long until = sent + TimeUnit.SECONDS.toNanos(this.seconds);
		this.provenUntil = (until - this.provenUntil > 0) ? until : this.provenUntil;
	}

	// who uses it

	void use(Object user) {
		this.used = true;
		this.users.add(user);
	}

	void leave(Object user) {
		this.users.remove(user);
	}

	boolean isUsedBy(Object user) {
		return this.users.contains(user);
	}

	/**
	 * Returns whether it is used, or was used since the last call, and forgets the
	 * latter.
	 */
	boolean takeUse() {
		boolean was = this.used;
		this.used = false;
		return was || !this.users.isEmpty();
	}

	/** Returns whether nothing that is to stay ends with it. */
	boolean isRevocable() {
		return this.users.stream().allMatch((user) -> !(user instanceof EtcdEntry.Mine mine) || mine.isBeingRemoved());
	}

	/**
	 * Additions of a token that returned no result: one may be carried out later, as long
	 * as the guard is the same.
	 *
	 * @param name the name of the key
	 * @param token the text of the token
	 */
	record Unanswered(ByteSequence name, String token) {
	}

}
