package io.github.lockspring.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireRequest;
import io.github.lockspring.store.AcquireRequest.QueueMode;
import io.github.lockspring.store.ReleaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * One key in this instance: the callers that want it, in order of arrival, and the tenure
 * by which the instance owns it or tries to.
 * <p>
 * For maintainers: this, with {@link Looks} and {@link Leases}, is the state machine of
 * the protocol. Methods hold {@code lock} for a moment and never ask the store; what is
 * to be asked is returned to the caller's thread, or given to the courier, and the answer
 * reported back. Methods that say so are called with the lock held; the others take it.
 * <p>
 * The <em>looker</em>, the only one that asks for the lock, is by definition the first of
 * {@code callers}: when it goes away the next one takes over the same tenure, with its
 * token and its place in the store's queue. While the tenure is HELD or ENDING nobody
 * asks. A tenure that was LOST, or left the queue, is dropped from here at once; one that
 * is ENDING stays until its release is answered, so that the next one does not ask in
 * vain. Times are compared by their difference, since nanoTime may overflow.
 */
final class LockEntry {

	private final ReentrantLock guard = new ReentrantLock();

	private final LockTable table;

	private final String key;

	private final ArrayDeque<Caller> callers = new ArrayDeque<>();

	private @Nullable Tenure tenure;

	/** Woken when the lock of this entry is given up. */
	private @Nullable Caller toWake;

	private boolean retired;

	LockEntry(LockTable table, String key) {
		this.table = table;
		this.key = key;
	}

	String key() {
		return this.key;
	}

	LockTable table() {
		return this.table;
	}

	void lock() {
		this.guard.lock();
	}

	/**
	 * Gives up this entry's own lock, and only then wakes the caller that was chosen
	 * under it, which would otherwise run into that lock.
	 */
	void unlock() {
		Caller chosen = this.toWake;
		this.toWake = null;
		this.guard.unlock();
		if (chosen != null) {
			this.table.time.unpark(chosen.thread);
		}
	}

	/** With the lock held. */
	@Nullable Tenure tenure() {
		return this.tenure;
	}

	// a caller's way through the entry

	/**
	 * Puts a caller in the queue.
	 * @return what it has to do first, or null if this entry is no longer in the table:
	 * get a new one
	 */
	@Nullable Step join(Caller caller) {
		lock();
		try {
			Tenure present = present();
			if (this.retired) {
				return null;
			}
			boolean occupied = present != null || !this.callers.isEmpty();
			if (occupied && (caller.patience.once() || this.table.isClosing())) {
				return new Step.GiveUp(Failure.busy(this.table, caller, present));
			}
			this.callers.addLast(caller);
			if (occupied) {
				this.table.openInbox();
			}
			return decide(caller, present);
		}
		finally {
			unlock();
		}
	}

	/**
	 * Says what a caller has to do next. Called by its own thread.
	 */
	Step next(Caller caller) {
		Hold hold = caller.hold;
		if (hold != null) {
			return new Step.Granted(hold);
		}
		lock();
		try {
			return decide(caller, present());
		}
		finally {
			unlock();
		}
	}

	private Step decide(Caller caller, @Nullable Tenure present) {
		if (caller.hold != null) {
			return new Step.Granted(caller.hold);
		}
		if (caller.failure != null) {
			return new Step.GiveUp(caller.failure);
		}
		if (Thread.interrupted()) {
			if (caller.patience.interruptible()) {
				Thread.currentThread().interrupt();
				leave(caller);
				return new Step.GiveUp(new Failure.Interrupted());
			}
			caller.interruptedMeanwhile = true;
		}
		return decide(caller, present, this.table.time.nanoTime());
	}

	private Step decide(Caller caller, @Nullable Tenure present, long now) {
		if (this.table.isStopped()) {
			leave(caller);
			return new Step.GiveUp(
					new Failure.Unavailable(new LockUnavailableException("The application has stopped")));
		}
		boolean looker = this.callers.peekFirst() == caller;
		if (looker && present == null) {
			this.tenure = this.table.newTenure(this, caller.terms.grantMillis());
			return look(this.tenure, caller, now);
		}
		Tenure waiting = (looker && present != null && present.state == Tenure.State.WAITING) ? present : null;
		if (waiting != null && caller.patience.once()) {
			return look(waiting, caller, now);
		}
		boolean silent = present != null && present.lookError != null
				&& now - present.failingSince >= caller.patience.unavailableAfter();
		if (this.table.isClosing() || now - caller.patience.until() >= 0 || silent) {
			Failure failure = Failure.of(this.table, caller, present);
			leave(caller);
			return new Step.GiveUp(failure);
		}
		long until = caller.patience.until();
		if (waiting != null) {
			if (now - waiting.nextLook >= 0) {
				return look(waiting, caller, now);
			}
			until = Time.earlier(until, waiting.nextLook);
		}
		if (looker && present != null && present.state == Tenure.State.PASSING && caller.terms.ttl() != present.ttl) {
			endLater(present);
		}
		else if (looker && present != null && present.state == Tenure.State.PASSING) {
			present.state = Tenure.State.RENEWING;
			return new Step.Renew(present, Passing.request(present, caller), now);
		}
		if (present != null && present.state.owns()) {
			until = Time.earlier(until, present.expiry() + 1_000_000);
		}
		return new Step.Park(until - now);
	}

	/** The tenure, unless its lease is over. With the lock held. */
	private @Nullable Tenure present() {
		Tenure present = this.tenure;
		if (present != null && present.state.owns() && this.table.time.nanoTime() - present.expiry() >= 0) {
			lose(present, Hold.OVER);
		}
		return this.tenure;
	}

	private Step.Look look(Tenure tenure, Caller caller, long now) {
		tenure.state = Tenure.State.ASKING;
		tenure.asked = now;
		tenure.ttl = caller.terms.ttl();
		tenure.lookAgain = false;
		QueueMode look = QueueMode.NONE;
		if (!caller.patience.once() && !this.table.isClosing() && this.table.isInboxConfirmed()) {
			look = tenure.queued ? QueueMode.REJOIN : QueueMode.JOIN;
			tenure.queued = true;
		}
		return new Step.Look(tenure,
				new AcquireRequest(this.key, tenure.token, Duration.ofNanos(caller.terms.ttl()), look), now);
	}

	/**
	 * Takes a caller out of the queue. The tenure that it asked for goes on to the next
	 * one, or leaves the store's queue if there is none. With the lock held.
	 */
	void leave(Caller caller) {
		this.callers.remove(caller);
		Tenure present = this.tenure;
		if (this.callers.isEmpty() && present != null && present.state == Tenure.State.WAITING) {
			present.state = Tenure.State.ENDING;
			this.tenure = null;
			this.table.courier.release(release(present, Duration.ZERO), () -> this.table.forget(present));
		}
		else if (this.callers.isEmpty() && present != null && present.state == Tenure.State.PASSING) {
			endLater(present);
		}
		wakeFirst();
		retire();
	}

	/**
	 * A caller goes away in an unforeseen way: whatever it was at, nobody waits for it.
	 */
	void abandon(Caller caller) {
		Hold hold;
		lock();
		try {
			hold = caller.hold;
			Tenure asked = (this.callers.peekFirst() == caller) ? this.tenure : null;
			if (asked != null && asked.state == Tenure.State.ASKING) {
				asked.state = Tenure.State.WAITING;
				asked.nextLook = this.table.time.nanoTime();
			}
			else if (asked != null && asked.state == Tenure.State.RENEWING) {
				asked.state = Tenure.State.PASSING;
			}
			leave(caller);
		}
		finally {
			unlock();
		}
		if (hold != null) {
			hold.end(false);
		}
	}

	/** Drops a tenure that has nothing to release. With the lock held. */
	void forget(Tenure gone) {
		this.table.forget(gone);
		if (this.tenure == gone) {
			this.tenure = null;
		}
	}

	private void retire() {
		if (this.callers.isEmpty() && this.tenure == null && !this.retired) {
			this.retired = true;
			this.table.remove(this);
		}
	}

	/** With the lock held. */
	void wakeFirst() {
		wake(this.callers.peekFirst());
	}

	private void wake(@Nullable Caller caller) {
		if (caller == null || caller.thread == Thread.currentThread()) {
			return;
		}
		if (this.toWake != null && this.toWake != caller) {
			this.table.time.unpark(this.toWake.thread);
		}
		this.toWake = caller;
	}

	void wakeAll() {
		lock();
		try {
			this.callers.forEach((caller) -> this.table.time.unpark(caller.thread));
		}
		finally {
			unlock();
		}
	}

	// holds

	/**
	 * Gives the lock to the first caller. With the lock held.
	 */
	void grant(Tenure granted, long fencingToken, long sent, long given) {
		granted.lease(sent, given, this.table.settings.renewalInterval());
		granted.fencingToken = fencingToken;
		granted.state = Tenure.State.HELD;
		granted.lookError = null;
		granted.heldSince = this.table.time.nanoTime();
		// that others wait may be known already
		granted.othersSince = granted.heldSince;
		hold(granted, this.callers.removeFirst());
	}

	/** With the lock held. */
	void hold(Tenure held, Caller caller) {
		Hold hold = new Hold(this, held, caller.terms, this.table.time.nanoTime(), caller.patience.deferred());
		held.hold = hold;
		caller.hold = hold;
		this.table.leases.reschedule(held, hold);
		wake(caller);
	}

	/** With the lock held. */
	@Nullable Caller first() {
		return this.callers.peekFirst();
	}

	/** With the lock held. */
	Caller removeFirst() {
		return this.callers.removeFirst();
	}

	/**
	 * Ends a tenure that nobody holds.
	 */
	void endLater(Tenure owned) {
		owned.state = Tenure.State.ENDING;
		this.table.courier.release(release(owned, Duration.ZERO), () -> ended(owned));
	}

	ReleaseRequest release(Tenure owned, Duration keep) {
		return new ReleaseRequest(this.key, owned.token, Duration.ofNanos(owned.ttl), owned.reportedFencingToken(),
				keep);
	}

	/** The release was answered or given up. */
	void ended(Tenure ended) {
		lock();
		try {
			forget(ended);
			wakeFirst();
			retire();
		}
		finally {
			unlock();
		}
	}

	/** Declares a lease lost. With the lock held. */
	void lose(Tenure lost, String reason) {
		if (!lost.state.owns()) {
			return;
		}
		lost.state = Tenure.State.LOST;
		this.table.watchdog.cancel(lost);
		forget(lost);
		if (lost.hold != null) {
			lost.hold.lost(reason);
		}
		else {
			// nobody's end will release it, and a renewal may have been carried out
			this.table.courier.release(release(lost, Duration.ZERO), null);
		}
		wakeFirst();
		retire();
	}

	/** The engine gives up what it holds: the work under it goes on without. */
	@Nullable ReleaseRequest surrender() {
		lock();
		try {
			Tenure held = this.tenure;
			if (held == null || !held.state.owns()) {
				return null;
			}
			lose(held, Hold.SHUTDOWN);
			return (held.hold != null) ? release(held, Duration.ZERO) : null;
		}
		finally {
			unlock();
		}
	}

}
