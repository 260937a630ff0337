package io.github.lockspring.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireQuestion;
import io.github.lockspring.store.AcquireQuestion.Look;
import io.github.lockspring.store.ReleaseQuestion;
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

	private static final int MOST_PASSES = 1000;

	private final ReentrantLock lock = new ReentrantLock();

	private final LockTable table;

	private final String key;

	private final ArrayDeque<Caller> callers = new ArrayDeque<>();

	private @Nullable Tenure tenure;

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

	ReentrantLock lock() {
		return this.lock;
	}

	/** With the lock held. */
	@Nullable Tenure tenure() {
		return this.tenure;
	}

	// a caller's way through the entry

	/**
	 * Puts a caller in the queue.
	 * @return false if this entry is no longer in the table: get a new one
	 */
	boolean join(Caller caller) {
		this.lock.lock();
		try {
			Tenure present = present();
			if (this.retired) {
				return false;
			}
			boolean occupied = present != null || !this.callers.isEmpty();
			if (occupied && (caller.patience.once() || this.table.isClosing())) {
				caller.failure = busy(caller, present);
				return true;
			}
			this.callers.addLast(caller);
			if (occupied) {
				this.table.openInbox();
			}
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Says what a caller has to do next. Called by its own thread.
	 */
	Step next(Caller caller) {
		this.lock.lock();
		try {
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
			return decide(caller, present(), this.table.time.nanoTime());
		}
		finally {
			this.lock.unlock();
		}
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
		if (this.table.isClosing() || now - caller.patience.until() >= 0 || tooLongUnanswered(caller, present, now)) {
			Failure failure = failure(caller, present);
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
		if (present != null && present.hold != null) {
			until = Time.earlier(until, present.hold.expiry() + 1_000_000);
		}
		return new Step.Park(until - now);
	}

	/** The tenure, unless its lease is over. With the lock held. */
	private @Nullable Tenure present() {
		Tenure present = this.tenure;
		if (present != null && present.hold != null && present.hold.isOver()) {
			lose(present, Hold.OVER);
		}
		return this.tenure;
	}

	private Step.Look look(Tenure tenure, Caller caller, long now) {
		tenure.state = Tenure.State.ASKING;
		tenure.asked = now;
		tenure.lookAgain = false;
		Look look = Look.ONCE;
		if (!caller.patience.once() && !this.table.isClosing() && this.table.isInboxConfirmed()) {
			look = tenure.queued ? Look.AGAIN : Look.FIRST;
			tenure.queued = true;
		}
		return new Step.Look(tenure,
				new AcquireQuestion(this.key, tenure.token, Duration.ofNanos(caller.terms.ttl()), look), now);
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
			this.table.courier.release(new ReleaseQuestion(this.key, present.token), () -> this.table.forget(present));
		}
		wakeFirst();
		retire();
	}

	/**
	 * A caller goes away in an unforeseen way: whatever it was at, nobody waits for it.
	 */
	void abandon(Caller caller) {
		Hold hold;
		this.lock.lock();
		try {
			hold = caller.hold;
			Tenure present = this.tenure;
			if (present != null && present.state == Tenure.State.ASKING && this.callers.peekFirst() == caller) {
				present.state = Tenure.State.WAITING;
				present.nextLook = this.table.time.nanoTime();
			}
			leave(caller);
		}
		finally {
			this.lock.unlock();
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
		if (caller != null && caller.thread != Thread.currentThread()) {
			this.table.time.unpark(caller.thread);
		}
	}

	void wakeAll() {
		this.lock.lock();
		try {
			this.callers.forEach(this::wake);
		}
		finally {
			this.lock.unlock();
		}
	}

	// holds

	/**
	 * Gives the lock to the first caller. With the lock held.
	 */
	void grant(Tenure granted, long fence, long sent, long given) {
		granted.lease(sent, given, this.table.settings.renewalInterval());
		granted.fence = fence;
		granted.state = Tenure.State.HELD;
		granted.lookError = null;
		granted.heldSince = this.table.time.nanoTime();
		hold(granted, this.callers.removeFirst());
	}

	private void hold(Tenure held, Caller caller) {
		Hold hold = new Hold(this, held, caller.terms, this.table.time.nanoTime(), caller.patience.deferred());
		held.hold = hold;
		caller.hold = hold;
		this.table.leases.reschedule(held, hold);
		wake(caller);
	}

	/**
	 * Ends a hold: passes the lock on to the next caller if it may, otherwise says what
	 * to ask the store. With the lock held.
	 * @return the question, or null if there is nothing to ask
	 */
	@Nullable ReleaseQuestion end(Hold hold) {
		Tenure held = hold.tenure();
		held.hold = null;
		long now = this.table.time.nanoTime();
		long keep = hold.start() + hold.terms().minHold() - now;
		Caller next = this.callers.peekFirst();
		if (next != null && keep <= 0 && mayPass(held, hold, next, now)) {
			this.callers.removeFirst();
			held.fence++;
			held.passes++;
			hold(held, next);
			return null;
		}
		held.state = Tenure.State.ENDING;
		this.table.watchdog.cancel(held);
		return new ReleaseQuestion(this.key, held.token, held.reportedFence(),
				(keep > 0) ? Duration.ofNanos(keep).plusMillis(1) : Duration.ZERO);
	}

	private boolean mayPass(Tenure held, Hold hold, Caller next, long now) {
		long ttl = next.terms.ttl();
		long needed = next.terms.renew() ? ttl / 2 : ttl / 10 * 9;
		if (this.table.isClosing() || ttl != hold.terms().ttl() || held.extended || held.passes >= MOST_PASSES
				|| held.deadline - now < needed) {
			return false;
		}
		if (held.othersWait) {
			return now - held.othersSince < this.table.settings.maxTenure().toNanos();
		}
		// who could not be told that others wait must assume it
		return this.table.isInboxConfirmed() || now - held.heldSince < this.table.settings.maxTenure().toNanos();
	}

	/** The release was answered or given up. */
	void ended(Tenure ended) {
		this.lock.lock();
		try {
			forget(ended);
			wakeFirst();
			retire();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Declares a lease lost. With the lock held. */
	void lose(Tenure lost, String reason) {
		if (lost.state != Tenure.State.HELD) {
			return;
		}
		lost.state = Tenure.State.LOST;
		this.table.watchdog.cancel(lost);
		forget(lost);
		if (lost.hold != null) {
			lost.hold.lost(reason);
		}
		wakeFirst();
		retire();
	}

	/** The engine gives up what it holds: the work under it goes on without. */
	@Nullable ReleaseQuestion surrender() {
		this.lock.lock();
		try {
			Tenure held = this.tenure;
			if (held == null || held.state != Tenure.State.HELD) {
				return null;
			}
			lose(held, Hold.SHUTDOWN);
			return new ReleaseQuestion(this.key, held.token, held.reportedFence(), Duration.ZERO);
		}
		finally {
			this.lock.unlock();
		}
	}

	boolean isHeld() {
		this.lock.lock();
		try {
			return this.tenure != null && this.tenure.state == Tenure.State.HELD;
		}
		finally {
			this.lock.unlock();
		}
	}

	// what a caller is told

	private static boolean tooLongUnanswered(Caller caller, @Nullable Tenure present, long now) {
		return present != null && present.lookError != null
				&& now - present.failingSince >= caller.patience.unavailableAfter();
	}

	private Failure failure(Caller caller, @Nullable Tenure present) {
		if (present != null && present.hold == null && present.lookError != null) {
			return new Failure.Unavailable(present.lookError);
		}
		if (present != null && present.state == Tenure.State.ASKING && !present.looked && isSilent(present)) {
			return new Failure.Unavailable(new LockUnavailableException("The store has not answered yet"));
		}
		return busy(caller, present);
	}

	/** Whether a look has been under way for longer than an answer usually takes. */
	private boolean isSilent(Tenure asking) {
		return this.table.time.nanoTime() - asking.asked >= this.table.settings.commandTimeout().toNanos() / 4;
	}

	/** With the lock held. */
	Failure.Busy busy(Caller caller, @Nullable Tenure present) {
		return new Failure.Busy(Text.busy(caller, present, this.table.isClosing(), this.table.time.nanoTime()));
	}

}
