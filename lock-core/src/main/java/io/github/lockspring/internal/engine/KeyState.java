package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.AcquireFailure.Busy;
import io.github.lockspring.internal.engine.AcquireFailure.Unavailable;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The state of one key in this instance. There is a class for each state, with the fields
 * that mean something in it; the object is its identity. A key that nobody here uses has
 * no state.
 * <p>
 * For maintainers: the methods are events and questions, under the monitor of the key's
 * lock; what an event does not mention does nothing. The table of the states and events
 * is in the documentation of this package.
 */
abstract sealed class KeyState {

	final KeyLock lock;

	final Claim claim;

	private KeyState(KeyLock lock, Claim claim) {
		this.lock = lock;
		this.claim = claim;
	}

	/** When something is to be done without a message or an answer. */
	long due() {
		return KeyLock.NOT_DUE;
	}

	/** Time has passed. */
	void tick(long now) {
	}

	/** Nobody waits any more. */
	void abandoned(long now) {
		this.lock.leave(this.claim, now);
		this.lock.become(null);
	}

	/** A message says that the lock was given to the token. */
	void granted(long fencingToken, long now) {
		prompted(now);
	}

	/** A message says that this instance owns the lock, perhaps without knowing it. */
	void prompted(long now) {
	}

	/**
	 * Messages arrive from now on; earlier ones may have been lost.
	 * @param by when to ask again at the latest
	 */
	void subscribed(long by) {
	}

	/** The first try of a release has a result, or is over. */
	void released(OwnerToken token) {
	}

	/** The engine has stopped; everybody who waited has been told. */
	void stopped(long now) {
	}

	/** Why a waiter that is not given the lock now does not get it. */
	AcquireFailure whyNot(Waiter waiter, long now) {
		return busyElsewhere(now);
	}

	/** Another instance has the lock, or a waiter of this one is ahead. */
	final AcquireFailure busyElsewhere(long now) {
		return new Busy(this.claim.describeHolder(now), this.claim.wasBusy());
	}

	@Override
	public String toString() {
		return getClass().getSimpleName() + " " + this.claim.token();
	}

	/**
	 * An attempt is under way. This object is the attempt; it belongs to the key, and not
	 * to the waiter that caused it. A store that has given the lock to a token gives it
	 * to the same token again, so the answer of an earlier attempt is not missed.
	 */
	static final class Asking extends KeyState {

		private final AcquireRequest request;

		private final long sent;

		/** The attempts before this one; null if the last of them was answered. */
		private final @Nullable Unanswered before;

		/** Whether a message has arrived that calls for another attempt. */
		private boolean again;

		Asking(KeyLock lock, Claim claim, AcquireRequest request, long sent, @Nullable Unanswered before) {
			super(lock, claim);
			this.request = request;
			this.sent = sent;
			this.before = before;
		}

		AcquireRequest request() {
			return this.request;
		}

		/** Without an answer in time, the next event that sees it ends the attempt. */
		@Override
		long due() {
			return this.sent + this.lock.retry().timeout(this.request.ttl());
		}

		@Override
		void tick(long now) {
			if (now - due() >= 0) {
				failed(this.lock.port().noteUnanswered(this.request), now);
			}
		}

		void answered(AcquireResult result, long now) {
			if (result instanceof AcquireResult.Acquired acquired) {
				acquired(acquired, now);
			}
			else {
				busy((AcquireResult.Busy) result, now);
			}
		}

		private void acquired(AcquireResult.Acquired result, long now) {
			long length = result.lease(this.request).toNanos();
			if (now - RenewalPolicy.deadline(this.sent, length) < 0) {
				this.lock.own(this.claim, result.fencingToken(), this.sent, length, now);
			}
			else {
				failed(new LockUnavailableException(LockMessages.ANSWERED_TOO_LATE), now);
			}
		}

		private void busy(AcquireResult.Busy result, long now) {
			// before foundBusy, which sets wasBusy
			boolean left = mayHaveLeftToken();
			// other clients may give a key more time than nanoseconds can count
			long millis = (result.remainingMillis() < 0) ? Long.MAX_VALUE : result.remainingMillis();
			long remaining = Math.min(millis, Time.FOREVER / 1_000_000) * 1_000_000;
			this.claim.foundBusy(now + remaining);
			this.lock.waiters().tellBusy(busyElsewhere(now), now);
			if (this.lock.waiters().isEmpty() && left) {
				abandoned(now);
			}
			else if (this.lock.waiters().isEmpty()) {
				this.lock.become(null);
			}
			else if (this.again || mayQueueNow()) {
				this.lock.ask(this.claim, null, now);
			}
			else {
				long pause = this.lock.retry().afterBusy(remaining, this.request.queue(), this.claim.grantNanos());
				this.lock.become(new Waiting(this.lock, this.claim, this.sent, result.lastFencingToken(), now + pause));
			}
		}

		/**
		 * Whether the store may have the token although the lock is busy: this attempt
		 * queued it, an earlier one has no answer, or an earlier one was busy and may
		 * have queued it. A release too many is harmless.
		 */
		private boolean mayHaveLeftToken() {
			return this.request.queue() || this.before != null || this.claim.wasBusy();
		}

		/** Whether the next attempt can queue, and this one could not. */
		private boolean mayQueueNow() {
			return !this.request.queue() && this.lock.mayQueue(this.claim);
		}

		/** It may have been carried out, or may yet be. */
		void failed(LockUnavailableException error, long now) {
			Unanswered unanswered = new Unanswered(unansweredSince(), error);
			this.lock.waiters().tellUnavailable(unanswered, now);
			if (this.lock.waiters().isEmpty()) {
				abandoned(now);
			}
			else if (this.again) {
				this.lock.ask(this.claim, unanswered, now);
			}
			else {
				long pause = this.lock.retry().afterFailure(this.request.queue(), this.claim.grantNanos());
				this.lock.become(new Retrying(this.lock, this.claim, unanswered, now + pause));
			}
		}

		@Override
		void stopped(long now) {
			this.lock.port().stoppedAsking(this);
		}

		/** When the first attempt without an answer was sent, this one included. */
		private long unansweredSince() {
			return (this.before != null) ? this.before.since() : this.sent;
		}

		@Override
		void prompted(long now) {
			this.again = true;
		}

		@Override
		void subscribed(long by) {
			this.again = true;
		}

		/** Until when a waiter whose time is over waits for the first answer. */
		long waitsForAnswerUntil() {
			return this.claim.wasBusy() ? this.sent : this.lock.retry().usuallyAnsweredBy(unansweredSince());
		}

		/**
		 * Busy, if a holder is known or an answer may still come soon; otherwise the
		 * store does not answer.
		 */
		@Override
		AcquireFailure whyNot(Waiter waiter, long now) {
			boolean holderKnown = this.claim.wasBusy() && this.before == null;
			if (holderKnown || now - this.lock.retry().usuallyAnsweredBy(unansweredSince()) < 0) {
				return busyElsewhere(now);
			}
			return (this.before != null) ? new Unavailable(this.before.error())
					: new Unavailable(LockMessages.NOT_ANSWERED_YET);
		}

	}

	/**
	 * The last attempts, which have no answer.
	 *
	 * @param since when the first of them was sent
	 * @param error why the last one has none
	 */
	record Unanswered(long since, LockUnavailableException error) {
	}

	/**
	 * No attempt is under way: the next one is made after a while.
	 */
	abstract static sealed class Pausing extends KeyState {

		/** The last attempts, if they have no answer; otherwise null. */
		private final @Nullable Unanswered before;

		private long nextAttempt;

		private Pausing(KeyLock lock, Claim claim, @Nullable Unanswered before, long nextAttempt) {
			super(lock, claim);
			this.before = before;
			this.nextAttempt = nextAttempt;
		}

		@Override
		final long due() {
			return this.nextAttempt;
		}

		@Override
		final void tick(long now) {
			if (now - this.nextAttempt >= 0) {
				prompted(now);
			}
		}

		@Override
		final void prompted(long now) {
			this.lock.ask(this.claim, this.before, now);
		}

		@Override
		final void subscribed(long by) {
			this.nextAttempt = Time.earlier(this.nextAttempt, by);
		}

	}

	/**
	 * The last answer was that another owner has the lock.
	 */
	static final class Waiting extends Pausing {

		/** When the attempt was sent that was answered. */
		private final long sent;

		private final long lastFencingToken;

		Waiting(KeyLock lock, Claim claim, long sent, long lastFencingToken, long nextAttempt) {
			super(lock, claim, null, nextAttempt);
			this.sent = sent;
			this.lastFencingToken = lastFencingToken;
		}

		/**
		 * The grant is used if it is certainly younger than the last answer and enough of
		 * its lease is left.
		 */
		@Override
		void granted(long fencingToken, long now) {
			long length = this.claim.grantNanos();
			if (fencingToken > this.lastFencingToken && RenewalPolicy.deadline(this.sent, length) - now >= length / 2) {
				this.lock.own(this.claim, fencingToken, this.sent, length, now);
			}
			else {
				prompted(now);
			}
		}

	}

	/**
	 * The last attempt has no answer; it may have been carried out, or may yet be.
	 */
	static final class Retrying extends Pausing {

		private final LockUnavailableException error;

		Retrying(KeyLock lock, Claim claim, Unanswered unanswered, long nextAttempt) {
			super(lock, claim, unanswered, nextAttempt);
			this.error = unanswered.error();
		}

		@Override
		AcquireFailure whyNot(Waiter waiter, long now) {
			return new Unavailable(this.error);
		}

	}

	/**
	 * A waiter of this instance holds the lock.
	 */
	static final class Held extends KeyState {

		private final Lease lease;

		private final Hold hold;

		/** How often the lock was handed off in this ownership. */
		private final int handoffs;

		Held(KeyLock lock, Claim claim, Lease lease, Hold hold, int handoffs) {
			super(lock, claim);
			this.lease = lease;
			this.hold = hold;
			this.handoffs = handoffs;
		}

		Hold hold() {
			return this.hold;
		}

		Lease lease() {
			return this.lease;
		}

		@Override
		long due() {
			return this.hold.nextEvent();
		}

		@Override
		void tick(long now) {
			if (this.hold.isOver(now)) {
				lose(Cause.EXPIRED, now);
			}
			else if (this.hold.isOwnerDead()) {
				lose(Cause.THREAD_ENDED, now);
			}
			else if (this.hold.isHolderGone()) {
				end(false, now);
			}
		}

		@Override
		void abandoned(long now) {
			// it has a holder
		}

		@Override
		void stopped(long now) {
			lose(Cause.STOPPED, now);
		}

		/** Releases at once: a renewal that was given up may have been carried out. */
		Release lose(Cause cause, long now) {
			Release release = this.lock.release(this.claim, lastFencingToken(), now);
			this.lock.lose(this.hold, cause, now);
			this.lock.become(null);
			return release;
		}

		/** Ends the hold, and hands the lock off to the next waiter or releases it. */
		@Nullable Release end(boolean mayBlock, long now) {
			this.hold.close();
			this.lock.recordEnd(this.hold, now);
			long keep = this.hold.keepFor(now);
			if (keep <= 0 && mayHandOff(now)) {
				this.lock.give(this.claim, this.lease, this.hold.fencingToken() + 1, this.handoffs + 1, now);
				return null;
			}
			Release release = this.lock.release(this.claim, new ReleaseRequest(this.lock.key(), this.claim.token(),
					lastFencingToken(), (keep > 0) ? Duration.ofNanos(keep).plusMillis(1) : Duration.ZERO), mayBlock,
					now);
			// ordered: no later request of this instance overtakes the release
			this.lock.become(this.lock.port().isOrdered() ? null : new Releasing(this.lock, this.claim));
			return release;
		}

		private boolean mayHandOff(long now) {
			Waiter next = this.lock.waiters().first();
			return next != null && LocalHandoff.isAllowed(this.hold.parameters(), next.parameters(), this.lease,
					this.handoffs, this.claim.contendedFor(this.lock.port().isInformed(), now), now);
		}

		/** The store does not know the tokens of hand-offs inside the instance. */
		private long lastFencingToken() {
			return (this.handoffs > 0) ? this.hold.fencingToken() : 0;
		}

		/**
		 * Starts a renewal if it is due, or so soon that it may go along with others.
		 */
		@Nullable RenewRequest renewal(long now) {
			if (!this.hold.startRenewalIfDue(now)) {
				return null;
			}
			Duration length = this.lock.port().lease(this.hold.ttlToRequest(now));
			this.claim.requested(length.toNanos());
			return new RenewRequest(this.lock.key(), this.claim.token(), length);
		}

		/** A renewal has a result. */
		void renewed(RenewResult result, long sent, long length, long now) {
			if (this.hold.isOver(now)) {
				lose(Cause.EXPIRED, now);
				return;
			}
			LockRecorder.Renewal recorded = recorded(result, this.hold.deadline() - now);
			this.lock.record((to) -> to.renewed(this.hold.parameters().name(), recorded));
			switch (result) {
				case RENEWED -> this.lease.lengthen(sent, length);
				case NOT_OWNER -> lose(Cause.NOT_OWNER, now);
				case UNKNOWN -> this.lease.retryRenewal(now);
			}
		}

		private LockRecorder.Renewal recorded(RenewResult result, long left) {
			return switch (result) {
				case RENEWED ->
					(left < 2 * this.lease.window()) ? LockRecorder.Renewal.LATE : LockRecorder.Renewal.RENEWED;
				case NOT_OWNER -> LockRecorder.Renewal.REFUSED;
				case UNKNOWN -> LockRecorder.Renewal.FAILED;
			};
		}

		@Override
		AcquireFailure whyNot(Waiter waiter, long now) {
			return new Busy(LockMessages.heldHere(waiter.hasOpened(this.hold), this.hold.expiry() - now), false);
		}

	}

	/**
	 * The lock is being released, in a store that may carry out the next request first.
	 * Ends with the first try of the release, which {@link Releases} ends in time if the
	 * store does not.
	 */
	static final class Releasing extends KeyState {

		Releasing(KeyLock lock, Claim claim) {
			super(lock, claim);
		}

		@Override
		void abandoned(long now) {
			// the release goes on
		}

		@Override
		void released(OwnerToken token) {
			if (token.equals(this.claim.token())) {
				this.lock.become(null);
			}
		}

		@Override
		AcquireFailure whyNot(Waiter waiter, long now) {
			return new Busy(LockMessages.BEING_RELEASED, false);
		}

	}

}
