package io.github.lockspring.engine;

import java.time.Duration;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.ReleaseRequest;
import io.github.lockspring.store.RenewResult;
import io.github.lockspring.store.RenewRequest;
import org.jspecify.annotations.Nullable;

/**
 * Decides, when a hold ends, whether the lock is passed on inside this instance, without
 * asking the store, or given back to it. Without rivals it is passed on as long as the
 * lease allows; with one, for a bounded time. The idea is lock cohorting.
 * <p>
 * For maintainers: stateless; methods say whether they are called with the entry's lock
 * held. A lease with too little time left for the next caller is renewed first, on that
 * caller's thread: the tenure is PASSING until it has woken, RENEWING while it asks. In
 * both states nobody holds the lock, and the deadline stays final: an answer that comes
 * after it finds the tenure LOST.
 *
 * @see <a href="https://doi.org/10.1145/2145816.2145848">Dice, Marathe, Shavit: Lock
 * Cohorting (PPoPP 2012)</a>
 */
final class Passing {

	/** So that the tokens of a tenure stay within a millisecond of its beginning. */
	private static final int MOST_PASSES = 1000;

	private final LockTable table;

	Passing(LockTable table) {
		this.table = table;
	}

	/**
	 * Ends a hold: passes the lock on to the next caller if it may, otherwise says what
	 * to ask the store. With the entry's lock held.
	 * @return the request, or null if there is nothing to ask
	 */
	@Nullable ReleaseRequest end(LockEntry entry, Hold hold) {
		Tenure held = hold.tenure();
		held.hold = null;
		long now = this.table.time.nanoTime();
		long keep = hold.start() + hold.terms().minHold() - now;
		Caller next = entry.first();
		if (next != null && keep <= 0 && mayPass(held, hold, next, now)) {
			if (held.deadline - now >= needed(next.terms)) {
				pass(entry, held);
			}
			else {
				held.state = Tenure.State.PASSING;
				this.table.watchdog.cancel(held);
				entry.wakeFirst();
			}
			return null;
		}
		held.state = Tenure.State.ENDING;
		this.table.watchdog.cancel(held);
		return entry.release(held, (keep > 0) ? Duration.ofNanos(keep).plusMillis(1) : Duration.ZERO);
	}

	private boolean mayPass(Tenure held, Hold hold, Caller next, long now) {
		if (this.table.isClosing() || next.terms.ttl() != hold.terms().ttl() || held.extended
				|| held.passes >= MOST_PASSES) {
			return false;
		}
		// who could not be told that others wait must assume it
		if (!held.othersWait && this.table.isInboxConfirmed()) {
			return true;
		}
		long since = held.othersWait ? held.othersSince : held.heldSince;
		return now - since < this.table.settings.maxTenure().toNanos();
	}

	private static long needed(Terms next) {
		return next.renew() ? next.ttl() / 2 : next.ttl() / 10 * 9;
	}

	private static void pass(LockEntry entry, Tenure held) {
		held.fencingToken++;
		held.passes++;
		entry.hold(held, entry.removeFirst());
	}

	/** What the first caller asks before the lock is passed on to it. */
	static RenewRequest request(Tenure passing, Caller first) {
		return new RenewRequest(passing.entry.key(), passing.token, Duration.ofNanos(first.terms.ttl()));
	}

	/** The renewal that the first caller asked for was answered. */
	void answered(LockEntry entry, Step.Renew renew, RenewResult answer) {
		entry.lock();
		try {
			Tenure passing = renew.tenure();
			if (!isUnderWay(entry, passing)) {
				return;
			}
			switch (answer) {
				case RENEWED -> {
					this.table.leases.lengthen(passing, renew.sent(), renew.request().ttl().toNanos());
					passing.state = Tenure.State.HELD;
					pass(entry, passing);
				}
				case NOT_OWNER -> entry.lose(passing, Hold.NOT_OWNER);
				case UNKNOWN -> giveUp(entry, renew, new LockUnavailableException("The store did not answer"));
			}
		}
		finally {
			entry.unlock();
		}
	}

	/** The renewal failed: the lock is given back, and who wants it asks anew. */
	void unanswered(LockEntry entry, Step.Renew renew, LockUnavailableException error) {
		entry.lock();
		try {
			if (isUnderWay(entry, renew.tenure())) {
				giveUp(entry, renew, error);
			}
		}
		finally {
			entry.unlock();
		}
	}

	private boolean isUnderWay(LockEntry entry, Tenure passing) {
		if (passing.state == Tenure.State.RENEWING && this.table.time.nanoTime() - passing.deadline >= 0) {
			entry.lose(passing, Hold.OVER);
		}
		return passing.state == Tenure.State.RENEWING;
	}

	private static void giveUp(LockEntry entry, Step.Renew renew, LockUnavailableException error) {
		renew.tenure().lookError = error;
		renew.tenure().failingSince = renew.sent();
		entry.endLater(renew.tenure());
	}

}
