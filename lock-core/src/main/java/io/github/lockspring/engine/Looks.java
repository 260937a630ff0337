package io.github.lockspring.engine;

import java.util.concurrent.ThreadLocalRandom;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireResult;

/**
 * What the answers to looks, and the messages of other instances, mean for a tenure.
 * <p>
 * For maintainers: stateless; each method takes the entry's lock. A lease counts from
 * before the look that got it was sent, and one got by a message from before the last
 * <em>answered</em> look: that is the only time of which it is certain that the grant is
 * younger. So a message that arrives during a look waits for its answer. Messages are
 * hints: where one does not certainly hold, the store is asked.
 */
final class Looks {

	private static final long LONGEST_INTERVAL = 1_000_000_000;

	/** Where nobody can tell this instance that a lock is free, it tries this often. */
	private static final long SHORTEST_TRY = 50_000_000;

	private static final long LONGEST_TRY = 500_000_000;

	private static final long JITTER = 20_000_000;

	private final LockTable table;

	Looks(LockTable table) {
		this.table = table;
	}

	void answered(LockEntry entry, Caller caller, Step.Look look, AcquireResult answer) {
		entry.lock();
		try {
			Tenure asked = look.tenure();
			asked.state = Tenure.State.WAITING;
			asked.lookError = null;
			if (answer instanceof AcquireResult.Acquired acquired) {
				acquired(entry, caller, look, acquired);
			}
			else if (answer instanceof AcquireResult.Busy busy) {
				busy(entry, caller, look, busy);
			}
		}
		finally {
			entry.unlock();
		}
	}

	private void acquired(LockEntry entry, Caller caller, Step.Look look, AcquireResult.Acquired answer) {
		Tenure asked = look.tenure();
		long now = this.table.time.nanoTime();
		long ttl = look.request().ttl().toNanos();
		asked.othersWait |= asked.pendingGrant != null && asked.pendingGrant.othersWait();
		asked.pendingGrant = null;
		if (this.table.isStopped()) {
			// what is held has been released already; the caller goes away and releases
			// this
			return;
		}
		if (now - (look.sent() + ttl - Terms.drift(ttl)) < 0) {
			entry.grant(asked, answer.fencingToken(), look.sent(), ttl);
			return;
		}
		asked.nextLook = asked.lateBefore ? now + interval(asked) : now;
		asked.lateBefore = true;
		if (caller.patience.once()) {
			caller.failure = new Failure.Unavailable(
					new LockUnavailableException("The store's answer came after the lease that it gave was over"));
			entry.leave(caller);
		}
	}

	private void busy(LockEntry entry, Caller caller, Step.Look look, AcquireResult.Busy answer) {
		Tenure asked = look.tenure();
		long now = this.table.time.nanoTime();
		asked.looked = true;
		asked.lookSent = look.sent();
		asked.lastFencingToken = answer.lastFencingToken();
		// other clients may give a key more time than nanoseconds can count
		long remaining = Math.min(answer.remainingMillis(), Time.FOREVER / 1_000_000) * 1_000_000;
		asked.busyUntil = (remaining < 0) ? null : now + remaining;
		asked.nextLook = now + untilNextLook(asked, remaining);
		if (caller.patience.once()) {
			caller.failure = Failure.busy(this.table, caller, asked);
			if (!asked.unanswered) {
				// never queued, and certainly not the owner: there is nothing to release
				entry.forget(asked);
			}
			entry.leave(caller);
			return;
		}
		this.table.openInbox();
		considerPending(entry, asked, now);
	}

	/**
	 * The look failed, or the caller was interrupted during it: it may have been carried
	 * out, or may yet be.
	 */
	void unanswered(LockEntry entry, Caller caller, Step.Look look, LockUnavailableException error) {
		entry.lock();
		try {
			Tenure asked = look.tenure();
			long now = this.table.time.nanoTime();
			asked.state = Tenure.State.WAITING;
			asked.unanswered = true;
			if (Thread.currentThread().isInterrupted()) {
				// not the store's fault; whoever is next asks again
				asked.nextLook = now;
				considerPending(entry, asked, now);
				return;
			}
			if (asked.lookError == null) {
				asked.failingSince = look.sent();
			}
			asked.lookError = error;
			asked.nextLook = now + (asked.queued ? interval(asked) : tryInterval());
			this.table.doubtInbox();
			if (caller.patience.once()) {
				caller.failure = new Failure.Unavailable(error);
				entry.leave(caller);
				return;
			}
			considerPending(entry, asked, now);
		}
		finally {
			entry.unlock();
		}
	}

	private long untilNextLook(Tenure asked, long remaining) {
		long interval = asked.queued ? interval(asked) : tryInterval();
		if (asked.queued && !this.table.isInboxConfirmed()) {
			interval = Math.min(interval, tryInterval());
		}
		if (remaining < 0) {
			return interval;
		}
		return Math.min(interval, remaining + ThreadLocalRandom.current().nextLong(JITTER));
	}

	private static long interval(Tenure tenure) {
		return Math.min(LONGEST_INTERVAL, tenure.grantNanos() / 4);
	}

	private static long tryInterval() {
		return ThreadLocalRandom.current().nextLong(SHORTEST_TRY, LONGEST_TRY);
	}

	void granted(LockEntry entry, Tenure granted, Tenure.Grant grant) {
		entry.lock();
		try {
			if (granted.state == Tenure.State.ASKING) {
				granted.pendingGrant = grant;
			}
			else if (granted.state == Tenure.State.WAITING) {
				consider(entry, granted, grant, this.table.time.nanoTime());
			}
		}
		finally {
			entry.unlock();
		}
	}

	private void considerPending(LockEntry entry, Tenure asked, long now) {
		Tenure.Grant grant = asked.pendingGrant;
		asked.pendingGrant = null;
		if (grant != null) {
			consider(entry, asked, grant, now);
		}
		else if (asked.lookAgain) {
			lookAt(entry, asked, now);
		}
	}

	/**
	 * Uses a grant if it is certainly younger than the last answered look, and enough of
	 * its lease is left.
	 */
	private void consider(LockEntry entry, Tenure waiting, Tenure.Grant grant, long now) {
		long given = waiting.grantNanos();
		long left = waiting.lookSent + given - Terms.drift(given) - now;
		waiting.othersWait |= grant.othersWait();
		if (!waiting.looked || grant.fencingToken() <= waiting.lastFencingToken || left < given / 2) {
			lookAt(entry, waiting, now);
			return;
		}
		if (this.table.isStopped()) {
			return;
		}
		entry.grant(waiting, grant.fencingToken(), waiting.lookSent, given);
	}

	void wanted(LockEntry entry, Tenure wanted) {
		entry.lock();
		try {
			long now = this.table.time.nanoTime();
			if (!wanted.othersWait) {
				wanted.othersWait = true;
				wanted.othersSince = now;
			}
			if (wanted.state == Tenure.State.WAITING) {
				lookAt(entry, wanted, now);
			}
			else if (wanted.state == Tenure.State.ASKING) {
				wanted.lookAgain = true;
			}
		}
		finally {
			entry.unlock();
		}
	}

	/** Messages may have been missed. */
	void lookSoon(LockEntry entry, long delay) {
		entry.lock();
		try {
			Tenure present = entry.tenure();
			if (present != null && present.state == Tenure.State.WAITING) {
				lookAt(entry, present, Time.earlier(present.nextLook, this.table.time.nanoTime() + delay));
			}
			else if (present != null && present.state == Tenure.State.ASKING) {
				present.lookAgain = true;
			}
		}
		finally {
			entry.unlock();
		}
	}

	private static void lookAt(LockEntry entry, Tenure waiting, long at) {
		waiting.nextLook = at;
		entry.wakeFirst();
	}

}
