package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.Objects;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.WaiterAction.AcquireAttempt;
import io.github.lockspring.internal.engine.support.StoreDispatcher;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.AcquireRequest.QueueMode;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The time during which this instance owns a key in the store, or tries to. Has one owner
 * token, which is never used again. Changed and read under the monitor of its
 * {@link KeyLock} only, which knows what follows from each change.
 */
final class Ownership implements StoreDispatcher.Renewal {

	/**
	 * States of an ownership; see the table in the documentation of this package.
	 */
	enum State {

		/** An acquire attempt is under way. */
		ATTEMPTING,
		/** Another owner has the lock, or it is not known who has. */
		WAITING,
		/** A waiter of this instance holds the lock. */
		HELD,
		/** The release is under way. */
		RELEASING,
		/** The lease ended too early. Final. */
		LOST

	}

	/**
	 * A grant that arrived as a message.
	 */
	record Grant(long fencingToken, boolean othersWait) {
	}

	/**
	 * The last attempt that found the lock busy.
	 *
	 * @param sent when it was sent
	 * @param pollsFrom from when on the token polls if the inbox is not confirmed
	 * @param lastFencingToken the last fencing token of the key
	 * @param until when the owner's lease ends, as far as is known; null if it has no end
	 */
	private record BusyAttempt(long sent, long pollsFrom, long lastFencingToken, @Nullable Long until) {
	}

	/**
	 * Why the store gives no results, and since when.
	 */
	private record Failure(LockUnavailableException error, long since) {
	}

	private final KeyLock lock;

	private final OwnerToken token;

	private final Lease lease;

	private State state = State.ATTEMPTING;

	// while it waits

	/** The attempt that is under way. */
	private @Nullable AcquireAttempt attempt;

	/** The ttl that the last attempt requested. */
	private Duration ttl = Duration.ZERO;

	/** Whether an attempt without a result may have been carried out, or may yet be. */
	private boolean unanswered;

	/** Whether the store queues the token. */
	private boolean queued;

	/** Whether the token may be in the store's queue as one that messages reach. */
	private boolean joined;

	/** Whether it may be there as one that polls, until it owns the lock. */
	private boolean polls;

	/** Whether messages did not arrive at the last attempt. */
	private boolean uninformed;

	/** Whether a message, or a new subscription, has called for the last attempt. */
	private boolean prompted;

	/** Null while no attempt has found the lock busy. */
	private @Nullable BusyAttempt busy;

	private long nextAttempt;

	/** Whether a message that arrived during an attempt requires another one. */
	private boolean attemptAgain;

	private boolean lateBefore;

	private @Nullable Grant pendingGrant;

	private @Nullable Failure failure;

	// while it owns the lock

	private @Nullable Hold hold;

	/** The present or last fencing token. */
	private long fencingToken;

	private int handoffs;

	/** Whether another instance is known to wait. */
	private boolean othersWait;

	/**
	 * Since when another instance has waited; while none is known to, since the start.
	 */
	private long contendedSince;

	Ownership(KeyLock lock, OwnerToken token, RenewalPolicy policy) {
		this.lock = lock;
		this.token = token;
		this.lease = new Lease(policy);
	}

	// acquire attempts

	/**
	 * Starts an attempt.
	 * @param queue whether the token waits in the store's queue if the lock is busy
	 * @param informed whether messages arrive; otherwise the token polls once the inbox
	 * has had time to open or to be confirmed again, and until it owns the lock
	 */
	AcquireAttempt startAttempt(Duration ttl, boolean queue, boolean informed, long now) {
		QueueMode mode = QueueMode.NONE;
		this.queued = queue;
		if (queue && !informed && this.busy != null) {
			// one such attempt may have met a probe of the inbox
			this.polls |= this.joined ? this.uninformed : now - this.busy.pollsFrom >= 0;
			this.uninformed = true;
		}
		else {
			this.uninformed = false;
		}
		if (queue && this.polls) {
			mode = QueueMode.POLL;
		}
		else if (queue && (informed || this.joined)) {
			mode = this.joined ? QueueMode.REJOIN : QueueMode.JOIN;
			this.joined = true;
		}
		this.state = State.ATTEMPTING;
		this.ttl = ttl;
		this.attemptAgain = false;
		this.attempt = new AcquireAttempt(new AcquireRequest(this.lock.key(), this.token, ttl, mode), now);
		return this.attempt;
	}

	/**
	 * Ends an attempt, whatever came of it.
	 * @return false if it is not the present one
	 */
	boolean endAttempt(AcquireAttempt ended) {
		if (this.attempt != ended) {
			return false;
		}
		this.attempt = null;
		this.state = State.WAITING;
		return true;
	}

	/**
	 * Ends an attempt whose result arrived after the lease that it gave was over.
	 */
	void late(long now) {
		this.failure = null;
		this.nextAttempt = this.lateBefore ? now + RetrySchedule.interval(grantNanos()) : now;
		this.lateBefore = true;
	}

	void busy(AcquireResult.Busy result, long sent, RetrySchedule retry, boolean informed, long now) {
		this.failure = null;
		long pollsFrom = (this.busy != null) ? this.busy.pollsFrom : now + RetrySchedule.TIME_TO_OPEN_INBOX;
		// other clients may give a key more time than nanoseconds can count
		long remaining = Math.min(result.remainingMillis(), Time.FOREVER / 1_000_000) * 1_000_000;
		this.busy = new BusyAttempt(sent, pollsFrom, result.lastFencingToken(),
				(remaining < 0) ? null : now + remaining);
		this.nextAttempt = now + retry.afterBusy(remaining, this.queued, informed && !this.polls, grantNanos());
	}

	void failed(LockUnavailableException error, long sent, RetrySchedule retry, long now) {
		this.unanswered = true;
		this.failure = new Failure(error, (this.failure != null) ? this.failure.since : sent);
		this.nextAttempt = now + retry.afterFailure(this.queued, grantNanos());
	}

	/** The waiter that sent the attempt is gone: the next one repeats it. */
	void interrupted(long now) {
		this.unanswered = true;
		this.nextAttempt = now;
	}

	/** The first waiter goes away without the result that it is waiting for. */
	void abandon(long now) {
		if (this.state == State.ATTEMPTING) {
			this.attempt = null;
			this.state = State.WAITING;
			interrupted(now);
		}
	}

	/**
	 * Returns whether the result of an attempt says what a message should have said
	 * before: that the token was handed the lock, or is not in the queue any more.
	 */
	boolean hasMissedMessage(AcquireAttempt ended, AcquireResult result) {
		boolean expected = this.failure != null || this.prompted || this.pendingGrant != null
				|| ended.request().queueMode() != QueueMode.REJOIN;
		this.prompted = false;
		return !expected && ((result instanceof AcquireResult.Busy busy) ? busy.newInQueue()
				: ((AcquireResult.Acquired) result).alreadyOwned());
	}

	/**
	 * Makes the next attempt at the given time at the latest; during an attempt, after
	 * it.
	 * @return whether it waits, and the time may have changed
	 */
	boolean attemptBy(long at) {
		this.prompted = true;
		if (this.state == State.WAITING) {
			this.nextAttempt = Time.earlier(this.nextAttempt, at);
		}
		this.attemptAgain = this.state == State.ATTEMPTING;
		return this.state == State.WAITING;
	}

	boolean isAttemptWanted() {
		return this.attemptAgain;
	}

	/**
	 * Returns whether it waits, and a message would have told it of the lock.
	 */
	boolean expectsMessage() {
		return this.state == State.WAITING && this.joined && !this.polls && !this.unanswered;
	}

	void keepForResult(Grant grant) {
		this.pendingGrant = grant;
	}

	@Nullable Grant takePendingGrant() {
		Grant grant = this.pendingGrant;
		this.pendingGrant = null;
		return grant;
	}

	/**
	 * Returns whether a grant is certainly younger than the last attempt that found the
	 * lock busy, and enough of its lease is left.
	 */
	boolean mayUse(Grant grant, long now) {
		long given = grantNanos();
		return this.busy != null && grant.fencingToken() > this.busy.lastFencingToken
				&& RenewalPolicy.deadline(this.busy.sent, given) - now >= given / 2;
	}

	// ownership

	void acquired(long fencingToken, long sent, long given, long now) {
		this.lease.start(sent, given);
		this.fencingToken = fencingToken;
		this.state = State.HELD;
		this.failure = null;
		// it may be known already that others wait
		this.contendedSince = now;
	}

	/** Counts from the first message that says so. */
	void othersWait(boolean wait, long now) {
		if (wait && !this.othersWait) {
			this.othersWait = true;
			this.contendedSince = now;
		}
	}

	Hold holdFor(Waiter waiter, long now) {
		this.hold = new Hold(waiter, this.token, this.lease, this.fencingToken, this.handoffs > 0, now);
		return this.hold;
	}

	/** The next waiter gets the lock without a request to the store. */
	void handOff() {
		this.state = State.HELD;
		this.fencingToken++;
		this.handoffs++;
	}

	void release() {
		this.hold = null;
		this.state = State.RELEASING;
	}

	void lose() {
		this.state = State.LOST;
	}

	ReleaseRequest releaseRequest(Duration keep) {
		// the store does not know the tokens of hand-offs inside the instance
		return new ReleaseRequest(this.lock.key(), this.token, this.lease.longest(this.ttl),
				(this.handoffs > 0) ? this.fencingToken : 0, keep);
	}

	// questions

	OwnerToken token() {
		return this.token;
	}

	State state() {
		return this.state;
	}

	boolean isWaiting() {
		return this.state == State.WAITING;
	}

	/** Whether this instance has a lease that it relies on. */
	boolean owns() {
		return this.state == State.HELD;
	}

	Lease lease() {
		return this.lease;
	}

	@Nullable Hold hold() {
		return this.hold;
	}

	/** The hold of an ownership that is held or was lost. */
	Hold presentHold() {
		return Objects.requireNonNull(this.hold);
	}

	/** Whether the store may have the token, in its queue or as the owner. */
	boolean mayBeInStore() {
		return this.unanswered;
	}

	long nextAttempt() {
		return this.nextAttempt;
	}

	/** When the attempt was sent that found the lock busy last. */
	long busySent() {
		return Objects.requireNonNull(this.busy).sent;
	}

	/** Whether the store has failed for too long, or in a way that no wait mends. */
	boolean isHopeless(Waiter.WaitOptions options, long now) {
		return this.failure != null && (this.failure.error.isPermanent() || now - giveUpAt(options) >= 0);
	}

	/** When a waiter gives up, as far as is known. */
	long giveUpAt(Waiter.WaitOptions options) {
		return (this.failure != null && options.unavailableAfter() < Time.FOREVER)
				? Time.earlier(options.until(), this.failure.since + options.unavailableAfter()) : options.until();
	}

	/**
	 * Why the store cannot be used, as far as is known; null if it can, or the lock is
	 * held here.
	 */
	@Nullable LockUnavailableException unavailable(RetrySchedule retry, long now) {
		if (this.hold == null && this.failure != null) {
			return this.failure.error;
		}
		boolean slow = this.hold == null && this.attempt != null && this.busy == null
				&& retry.isSlow(this.attempt.sent(), now);
		return slow ? new LockUnavailableException("The store has not answered yet") : null;
	}

	/** What is known about the holder that a waiter waits for, a sentence. */
	String describe(@Nullable Thread waiter, long now) {
		Hold present = this.hold;
		if (present != null) {
			return LockMessages.heldHere(waiter != null && present.opener() == waiter, present.expiry() - now);
		}
		return (this.busy != null) ? LockMessages.heldElsewhere(this.busy.until, now) : LockMessages.AHEAD_IN_QUEUE;
	}

	/**
	 * For how long another instance may have waited; negative if none does. An instance
	 * that messages do not reach must assume one.
	 */
	long contendedFor(boolean informed, long now) {
		return (this.othersWait || !informed) ? now - this.contendedSince : -1;
	}

	int handoffs() {
		return this.handoffs;
	}

	/** The end of the lease or of the hold, whichever is earlier. */
	long expiry() {
		return presentHold().expiry();
	}

	/** Length of the lease that a hand-over from another instance gives. */
	long grantNanos() {
		return this.token.grantMillis() * 1_000_000L;
	}

	// what messages and the dispatcher do with it

	void granted(Grant grant, long now) {
		this.lock.granted(this, grant, now);
	}

	void wanted(long now) {
		this.lock.wanted(this, now);
	}

	@Override
	public String key() {
		return this.lock.key();
	}

	@Override
	public @Nullable RenewRequest renewRequest(long now) {
		return this.lock.renewRequest(this, now);
	}

	@Override
	public void renewed(RenewResult result, long sent, long requested, long now) {
		this.lock.renewed(this, result, sent, requested, now);
	}

	@Override
	public String toString() {
		return "lock '" + this.lock.key() + "'";
	}

}
