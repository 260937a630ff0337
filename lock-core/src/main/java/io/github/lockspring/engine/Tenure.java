package io.github.lockspring.engine;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The time during which this instance owns a key in the store, or tries to. Has one owner
 * token, which is never used again. All fields are guarded by the entry's lock; the
 * deadline is also read without it.
 */
final class Tenure {

	/**
	 * States of a tenure. LOST is final.
	 */
	enum State {

		/** A look is under way. */
		ASKING,
		/** Somebody else has the lock, or nobody knows. */
		WAITING,
		/** One of this instance's callers holds the lock. */
		HELD,
		/** Nobody holds it: the next caller renews its lease before it gets it. */
		PASSING,
		/** The first caller does so. */
		RENEWING,
		/** The release is under way. */
		ENDING,
		/** The lease was over before its end was wanted. */
		LOST;

		/** Whether this instance has a lease that it counts on. */
		boolean owns() {
			return this == HELD || this == PASSING || this == RENEWING;
		}

	}

	/**
	 * A grant that arrived as a message.
	 *
	 * @param fencingToken the fencing token
	 * @param othersWait whether others are queued
	 */
	record Grant(long fencingToken, boolean othersWait) {
	}

	final LockEntry entry;

	final OwnerToken token;

	State state = State.ASKING;

	/** Whether a look went without an answer: it may yet be carried out. */
	boolean unanswered;

	/** Whether the token may stand in the store's queue. */
	boolean queued;

	/** Whether a look was ever answered; lookSent and fenceSeen are of the last one. */
	boolean looked;

	/** The lease that the last look asked for. */
	long ttl;

	/** When the look that is under way was asked. */
	long asked;

	long lookSent;

	long lastFencingToken;

	/** When the last answered look said that the owner's lease ends; for people. */
	@Nullable Long busyUntil;

	long nextLook;

	/** Whether something arrived during a look that asks for another one at once. */
	boolean lookAgain;

	/** Whether an acquisition was answered too late before. */
	boolean lateBefore;

	@Nullable Grant pendingGrant;

	@Nullable LockUnavailableException lookError;

	long failingSince;

	/** End of the lease; final once passed. */
	volatile long deadline;

	/** What the lease was given last, and when that was sent. */
	long given;

	long givenSent;

	/** When the next renewal is to be tried, if one is needed at all. */
	long renewDue;

	boolean renewing;

	/** Whether the lease was lengthened by hand. */
	boolean extended;

	/** The present or last fencing token. */
	long fencingToken;

	int passes;

	/**
	 * Whether another instance is known to wait, and since when this one has held the
	 * lock nevertheless.
	 */
	boolean othersWait;

	long othersSince;

	long heldSince;

	@Nullable Hold hold;

	Watchdog.@Nullable Slot slot;

	Tenure(LockEntry entry, OwnerToken token) {
		this.entry = entry;
		this.token = token;
	}

	/** The last token used, which the store does not know if the lock was passed on. */
	long reportedFencingToken() {
		return (this.passes > 0) ? this.fencingToken : 0;
	}

	long grantNanos() {
		return this.token.grantMillis() * 1_000_000L;
	}

	/**
	 * Takes a lease that was given by a command sent at the given time.
	 */
	void lease(long sent, long given, double interval) {
		this.deadline = sent + given - Terms.drift(given);
		this.given = given;
		this.givenSent = sent;
		this.renewDue = sent + (long) (given * interval);
	}

	/** End of the lease or of the hold, whichever is earlier. */
	long expiry() {
		return (this.hold != null) ? this.hold.expiry() : this.deadline;
	}

	/**
	 * Whether the lease ends before the hold may.
	 */
	boolean needsRenewal(Hold hold) {
		return this.deadline - (hold.limit() - hold.terms().ttl() / 10) < 0;
	}

	/**
	 * How much earlier than due it may be renewed, to go along with others.
	 */
	long renewWindow() {
		return this.given / 6;
	}

}
