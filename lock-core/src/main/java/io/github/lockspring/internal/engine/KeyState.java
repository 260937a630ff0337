package io.github.lockspring.internal.engine;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.AcquireFailure.Busy;
import io.github.lockspring.internal.engine.AcquireFailure.Unavailable;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The state of one key in this instance. There is a class for each state, with the fields
 * that mean something in it; the object is its identity. A key that nobody here uses has
 * no state.
 */
/*
 * For maintainers: the methods are events and questions, under the monitor of the key's
 * lock; what an event does not mention does nothing. An event that asks, owns, releases
 * or becomes another state ends with that: this object is the state no more. A claim is
 * released before its state goes, for a message about a token that neither a state nor a
 * release has is an orphan's. The table of the states and events is in the documentation
 * of this package.
 */
abstract sealed class KeyState permits KeyState.Asking, KeyState.Pausing, Held, KeyState.Releasing {

	final KeyLock lock;

	final Claim claim;

	KeyState(KeyLock lock, Claim claim) {
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
	void lastWaiterLeft(long now) {
		this.lock.releaseOfLast(this.claim, now);
		this.lock.become(null);
	}

	/** A message reports that the lock was given to the token. */
	void granted(long fencingToken, long now) {
		prompted(now);
	}

	/** A message reports that this instance owns the lock, perhaps unnoticed. */
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
		return new Busy(this.claim.describeHolder(now), this.claim.hasFoundBusy());
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
				LockUnavailableException silence = this.lock.port().noteUnanswered(this.request);
				// the store's own reason for an earlier attempt is more specific
				failed((this.before != null) ? this.before.error() : silence, now);
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
			// before foundBusy, which changes it
			boolean left = mayHaveLeftToken();
			// other clients may give a key more time than nanoseconds can count
			long millis = (result.remainingMillis() < 0) ? Long.MAX_VALUE : result.remainingMillis();
			long remaining = Math.min(millis, Time.FOREVER / 1_000_000) * 1_000_000;
			this.claim.foundBusy(now + remaining);
			this.lock.waiters().tellBusy(busyElsewhere(now), now);
			if (this.lock.waiters().isEmpty() && left) {
				lastWaiterLeft(now);
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
			return this.request.queue() || this.before != null || this.claim.hasFoundBusy();
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
				lastWaiterLeft(now);
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
			return this.claim.hasFoundBusy() ? this.sent : this.lock.retry().usuallyAnsweredBy(unansweredSince());
		}

		/**
		 * Busy, if a holder is known or an answer may still come soon; otherwise the
		 * store does not answer.
		 */
		@Override
		AcquireFailure whyNot(Waiter waiter, long now) {
			boolean holderKnown = this.claim.hasFoundBusy() && this.before == null;
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
	 * @param error the last reason for that which the store has given
	 */
	record Unanswered(long since, LockUnavailableException error) {
	}

	/**
	 * No attempt is under way: the next one is made after a while.
	 */
	abstract static sealed class Pausing extends KeyState {

		private long nextAttempt;

		private Pausing(KeyLock lock, Claim claim, long nextAttempt) {
			super(lock, claim);
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
		abstract void prompted(long now);

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
			super(lock, claim, nextAttempt);
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

		@Override
		void prompted(long now) {
			this.lock.ask(this.claim, null, now);
		}

	}

	/**
	 * The last attempt has no answer; it may have been carried out, or may yet be.
	 */
	static final class Retrying extends Pausing {

		private final Unanswered unanswered;

		Retrying(KeyLock lock, Claim claim, Unanswered unanswered, long nextAttempt) {
			super(lock, claim, nextAttempt);
			this.unanswered = unanswered;
		}

		@Override
		void prompted(long now) {
			this.lock.ask(this.claim, this.unanswered, now);
		}

		@Override
		AcquireFailure whyNot(Waiter waiter, long now) {
			return new Unavailable(this.unanswered.error());
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
		void lastWaiterLeft(long now) {
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
