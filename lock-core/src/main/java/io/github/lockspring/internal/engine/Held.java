package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.internal.engine.AcquireFailure.Busy;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * A waiter of this instance holds the lock: its use of the lock, inside an ownership.
 */
/*
 * For maintainers: `state` goes from ACTIVE to LOST or to CLOSED, and from LOST to
 * CLOSED; a hold that is not ACTIVE never becomes so again, and is the state of its key
 * no more. The hold ends at the deadline of the lease or at its own limit, whichever is
 * earlier. All of that changes under the monitor of the key's lock. The holder's own
 * thread adds, without it, who has opened a handle, that a unit of work keeps the hold,
 * and the end of an interrupt; what is volatile is also read without it.
 */
final class Held extends KeyState implements Waiter.Outcome {

	enum State {

		ACTIVE, LOST, CLOSED

	}

	final Lease lease;

	private final Waiter waiter;

	private final long fencingToken;

	/** How often the lock was handed off in this ownership. */
	private final int handoffs;

	private volatile long start;

	private volatile long limit;

	private volatile State state = State.ACTIVE;

	private volatile @Nullable Cause lossCause;

	/** The interrupt to send at a loss, if armed. */
	private volatile @Nullable LossInterrupt armed;

	/** The thread that opened a handle, for the message that names it. */
	private volatile @Nullable Thread opener;

	/** Whether only the opener can end it. */
	private volatile boolean bound;

	/** Whether it lasts until a unit of work is complete. */
	private volatile boolean kept;

	Held(KeyLock lock, Claim claim, Waiter waiter, Lease lease, long fencingToken, int handoffs, long start) {
		super(lock, claim);
		this.waiter = waiter;
		this.lease = lease;
		this.fencingToken = fencingToken;
		this.handoffs = handoffs;
		this.start = start;
		this.limit = waiter.options().deferred() ? start + Time.FOREVER : parameters().limitFrom(start);
	}

	// as the state of its key

	/** When the watchdog has to look at it. */
	@Override
	long due() {
		return needsRenewal() ? Time.earlier(expiry(), this.lease.renewAt()) : expiry();
	}

	@Override
	void tick(long now) {
		if (isOver(now)) {
			lose(Cause.EXPIRED, now);
		}
		else if (isOwnerDead()) {
			lose(Cause.THREAD_ENDED, now);
		}
		else if (this.waiter.gone) {
			// by an error: it does not end it any more
			end(false, now);
		}
	}

	@Override
	void lastWaiterLeft(long now) {
		// it has a holder
	}

	@Override
	void stopped(long now) {
		lose(Cause.STOPPED, now);
	}

	/** Releases at once: a renewal that was given up may have been carried out. */
	Release lose(Cause cause, long now) {
		Release release = this.lock.release(this.claim, lastFencingToken(), now);
		this.lossCause = cause;
		this.state = State.LOST;
		this.lock.lost(this, cause, now);
		this.lock.become(null);
		return release;
	}

	/** Ends the hold, and hands the lock off to the next waiter or releases it. */
	@Nullable Release end(boolean mayBlock, long now) {
		close();
		this.lock.recordEnd(this, now);
		long keep = keepFor(now);
		if (keep <= 0 && mayHandOff(now)) {
			this.lock.give(this.claim, this.lease, this.fencingToken + 1, this.handoffs + 1, now);
			return null;
		}
		Release release = this.lock.release(this.claim, new ReleaseRequest(this.lock.key(), this.claim.token(),
				lastFencingToken(), (keep > 0) ? Duration.ofNanos(keep).plusMillis(1) : Duration.ZERO), mayBlock, now);
		// ordered: no later request of this instance overtakes the release
		this.lock.become(this.lock.port().isOrdered() ? null : new Releasing(this.lock, this.claim));
		return release;
	}

	private boolean mayHandOff(long now) {
		Waiter next = this.lock.waiters().first();
		return next != null && LocalHandoff.isAllowed(parameters(), next.parameters(), this.lease, this.handoffs,
				this.claim.contention().nanos(this.lock.port().isInformed(), now), now);
	}

	/** Local hand-offs use fencing tokens that the store has not issued. */
	private long lastFencingToken() {
		return (this.handoffs > 0) ? this.fencingToken : 0;
	}

	/**
	 * Starts a renewal if it is due, or so soon that it may go along with others.
	 */
	@Nullable RenewRequest renewal(long now) {
		if (!needsRenewal() || now - (this.lease.renewAt() - this.lease.window()) < 0) {
			return null;
		}
		this.lease.renewing(now);
		Duration length = this.lock.port().lease(ttlToRequest(now));
		this.claim.requested(length.toNanos());
		return new RenewRequest(this.lock.key(), this.claim.token(), length);
	}

	/** A renewal has a result. */
	void renewed(RenewResult result, long sent, long length, long now) {
		if (isOver(now)) {
			lose(Cause.EXPIRED, now);
			return;
		}
		LockRecorder.Renewal recorded = recorded(result, deadline() - now);
		this.lock.record((to) -> to.renewed(parameters().name(), recorded));
		switch (result) {
			case RENEWED -> this.lease.lengthen(sent, length);
			case NOT_OWNER -> lose(Cause.NOT_OWNER, now);
			case UNKNOWN -> this.lease.retryRenewal(now);
		}
	}

	private LockRecorder.Renewal recorded(RenewResult result, long left) {
		return switch (result) {
			case RENEWED -> (left < 2 * this.lease.window()) ? LockRecorder.Renewal.LATE : LockRecorder.Renewal.RENEWED;
			case NOT_OWNER -> LockRecorder.Renewal.REFUSED;
			case UNKNOWN -> LockRecorder.Renewal.FAILED;
		};
	}

	@Override
	AcquireFailure whyNot(Waiter waiter, long now) {
		return new Busy(LockMessages.heldHere(waiter.hasOpened(this), expiry() - now), false);
	}

	// other transitions

	/**
	 * Starts the limits of a hold that waited for the other keys of its request.
	 */
	void begin(long now) {
		this.start = now;
		this.limit = parameters().limitFrom(now);
	}

	/** The holder has lengthened the lease. */
	void extend(long limit) {
		this.lease.extend();
		this.limit = Time.later(this.limit, limit);
	}

	/** Records a loss that only the release has shown, after the end of the hold. */
	void lostUnnoticed(Cause cause) {
		this.lossCause = cause;
	}

	void close() {
		this.state = State.CLOSED;
	}

	/**
	 * Lets a loss interrupt the present thread, from now on; at once if the lock is lost.
	 * @return what it sends
	 */
	LossInterrupt arm() {
		LossInterrupt interrupt = new LossInterrupt(Thread.currentThread());
		if (this.state == State.LOST) {
			interrupt.send();
		}
		else {
			this.armed = interrupt;
		}
		return interrupt;
	}

	/**
	 * A thread has opened a handle.
	 * @param bound whether no other thread can close it
	 */
	void openedBy(Thread thread, boolean bound) {
		this.opener = thread;
		this.bound = bound;
	}

	/** It belongs to a unit of work from now on. */
	void keep() {
		this.kept = true;
	}

	// questions

	LockParameters parameters() {
		return this.waiter.parameters();
	}

	/** The thread that waited for it; null if none did. */
	@Nullable Thread thread() {
		return this.waiter.thread();
	}

	boolean isKept() {
		return this.kept;
	}

	OwnerToken token() {
		return this.claim.token();
	}

	long fencingToken() {
		return this.fencingToken;
	}

	long deadline() {
		return this.lease.deadline();
	}

	/** The end of the lease or of the hold, whichever is earlier. */
	long expiry() {
		return Time.earlier(this.lease.deadline(), this.limit);
	}

	boolean isOver(long now) {
		return now - expiry() >= 0;
	}

	/** Whether nothing can end it any more but the end of its lease. */
	private boolean isOwnerDead() {
		Thread thread = this.opener;
		return this.bound && thread != null && !thread.isAlive();
	}

	/** An error ends its holder. */
	void holderGone() {
		this.waiter.dies();
	}

	boolean isActive() {
		return this.state == State.ACTIVE;
	}

	State state() {
		return this.state;
	}

	/** Whether the lease ends before the hold may. */
	boolean needsRenewal() {
		return RenewalPolicy.isNeeded(this.lease.deadline(), this.limit, parameters().ttlNanos());
	}

	/** The time that should be left after a renewal at the given time. */
	Duration ttlToRequest(long now) {
		long left = this.limit - now;
		return (left < parameters().ttlNanos()) ? Duration.ofNanos(left) : parameters().ttl();
	}

	/** How long the lock must still be kept, because of its minimum; negative if not. */
	private long keepFor(long now) {
		return this.start + parameters().minHold() - now;
	}

	long nanosHeld(long now) {
		return now - this.start;
	}

	Duration heldFor(long now) {
		return Duration.ofNanos(nanosHeld(now));
	}

	@Nullable Cause lossCause() {
		return this.lossCause;
	}

	/** The interrupt to send at a loss, or null. */
	@Nullable LossInterrupt lossInterrupt() {
		return this.armed;
	}

	@Nullable Thread opener() {
		return this.opener;
	}

	@Override
	public String toString() {
		return "Lock '" + parameters().key() + "' (" + this.fencingToken + ", " + this.state + ")";
	}

}
