package io.github.lockspring.internal.engine;

import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Function;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.AcquireFailure.Busy;
import io.github.lockspring.internal.engine.AcquireFailure.Interrupted;
import io.github.lockspring.internal.engine.AcquireFailure.Unavailable;
import io.github.lockspring.internal.engine.KeyState.Asking;
import io.github.lockspring.internal.engine.KeyState.Unanswered;
import io.github.lockspring.internal.engine.Waiter.WaitOptions;
import org.jspecify.annotations.Nullable;

/**
 * The waiters for one key in this instance, in order of arrival. Each leaves when its
 * outcome is set. Used under the monitor of the key's lock.
 */
final class WaitQueue {

	private final KeyLock lock;

	private final ArrayDeque<Waiter> waiters = new ArrayDeque<>(1);

	/** When the first of those gives up that do not watch the time themselves. */
	private long due = KeyLock.NOT_DUE;

	WaitQueue(KeyLock lock) {
		this.lock = lock;
	}

	/** Whether nobody waits. Tells and drops those that are gone, as {@link #first}. */
	boolean isEmpty() {
		return first() == null;
	}

	int size() {
		return this.waiters.size();
	}

	/**
	 * The waiter whose turn is next; null if nobody waits. Changes the queue: tells and
	 * drops those before it that an error has ended.
	 */
	@Nullable Waiter first() {
		Waiter first = this.waiters.peekFirst();
		while (first != null && first.gone) {
			leave(first, new Interrupted());
			first = this.waiters.peekFirst();
		}
		return first;
	}

	/** When {@link #timeOutAll} has something to do. */
	long due() {
		return this.due;
	}

	void add(Waiter waiter) {
		this.waiters.addLast(waiter);
		if (!waiter.endsItself()) {
			this.due = KeyLock.earlier(this.due, waiter.options().until());
		}
	}

	/** A waiter has to wait for others. */
	void waits(Waiter waiter) {
		if (waiter.beginsToWait()) {
			this.lock.afterwards(this.lock.port()::openInbox);
			this.lock.record((to) -> to.waiting(waiter.parameters().name(), 1));
		}
	}

	/** Gives the hold to the first waiter. */
	void give(Held hold) {
		tell(this.waiters.removeFirst(), hold);
	}

	/** Tells a waiter that is not, or no longer, in this queue. */
	void tell(Waiter waiter, Waiter.Outcome outcome) {
		waiter.tell(outcome);
		if (waiter.isWaiting()) {
			this.lock.record((to) -> to.waiting(waiter.parameters().name(), -1));
		}
		this.lock.afterwards(waiter::wake);
	}

	/** A waiter goes away, unless its outcome is known. */
	void leave(Waiter waiter, AcquireFailure failure) {
		if (this.waiters.remove(waiter)) {
			tell(waiter, failure);
		}
	}

	/** Tells those for whom there is a failure. */
	private void tellThose(Function<Waiter, @Nullable AcquireFailure> why) {
		for (Waiter waiter : List.copyOf(this.waiters)) {
			AcquireFailure failure = why.apply(waiter);
			if (failure != null) {
				leave(waiter, failure);
			}
		}
	}

	void tellAll(AcquireFailure failure) {
		tellThose((waiter) -> failure);
	}

	/**
	 * The lock is busy: tells those who do not wait any longer, and all when the
	 * application stops.
	 */
	void tellBusy(AcquireFailure failure, long now) {
		tellThose((waiter) -> isOver(waiter, now) ? closing(failure) : null);
		waitsFirst();
	}

	/**
	 * The store has no answer: tells those whose time is over or for whom it has failed
	 * for too long, and all if the failure is permanent.
	 */
	void tellUnavailable(Unanswered attempts, long now) {
		LockUnavailableException error = attempts.error();
		AcquireFailure failure = new Unavailable(error);
		tellThose((waiter) -> (error.isPermanent() || isOver(waiter, now)
				|| now - attempts.since() >= waiter.options().unavailableAfter()) ? failure : null);
		waitsFirst();
	}

	private boolean isOver(Waiter waiter, long now) {
		WaitOptions options = waiter.options();
		return options.once() || this.lock.port().isClosing() || now - options.until() >= 0;
	}

	/** All have to wait; those behind the first one have since they came. */
	private void waitsFirst() {
		Waiter first = first();
		if (first != null) {
			waits(first);
		}
	}

	/**
	 * Ends all waits except that of the waiter whose attempt is under way.
	 */
	void close(KeyState present, long now) {
		Waiter asking = (present instanceof Asking) ? first() : null;
		tellThose((waiter) -> (waiter != asking) ? whyNot(waiter, present, now) : null);
	}

	/** Ends the waits whose time is over, of those that do not watch it themselves. */
	void timeOutAll(@Nullable KeyState present, long now) {
		if (this.due == KeyLock.NOT_DUE || now - this.due < 0) {
			return;
		}
		this.due = KeyLock.NOT_DUE;
		for (Waiter waiter : List.copyOf(this.waiters)) {
			if (!waiter.endsItself()) {
				long until = waiter.options().until();
				until = (now - until >= 0) ? timeOut(waiter, present, now) : until;
				this.due = (waiter.outcome() == null) ? KeyLock.earlier(this.due, until) : this.due;
			}
		}
	}

	/**
	 * Ends the wait of a waiter whose time is over: now, or with the first answer of the
	 * store if that comes soon.
	 * @return when to look again, unless the wait has ended
	 */
	long timeOut(Waiter waiter, @Nullable KeyState present, long now) {
		long until = (present instanceof Asking asking && first() == waiter) ? asking.waitsForAnswerUntil() : now;
		if (present != null && now - until >= 0) {
			leave(waiter, whyNot(waiter, present, now));
		}
		return until;
	}

	/** Why a waiter does not get the lock now. */
	AcquireFailure whyNot(Waiter waiter, KeyState present, long now) {
		return closing(present.whyNot(waiter, now));
	}

	private AcquireFailure closing(AcquireFailure failure) {
		return (failure instanceof Busy busy && this.lock.port().isClosing())
				? new Busy(LockMessages.CLOSING, busy.elsewhere()) : failure;
	}

}
