package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * One waiter's use of the lock, inside an ownership.
 * <p>
 * For maintainers: {@code state} goes from ACTIVE to LOST or to CLOSED, and from LOST to
 * CLOSED; a hold that is not ACTIVE never becomes so again. The hold ends at the deadline
 * of the lease or at its own limit, whichever is earlier. All of that changes under the
 * monitor of the key's lock. The holder's own thread adds, without it, who has opened a
 * handle, that a unit of work keeps the hold, and the end of an interrupt; what is
 * volatile is also read without it.
 */
final class Hold implements Waiter.Outcome {

	enum State {

		ACTIVE, LOST, CLOSED

	}

	private final KeyLock lock;

	private final Waiter waiter;

	private final LockParameters parameters;

	private final OwnerToken token;

	private final Lease lease;

	private final long fencingToken;

	/** The thread that waited for it; null if none did. */
	private final @Nullable Thread thread;

	private volatile long start;

	private volatile long limit;

	private volatile State state = State.ACTIVE;

	private volatile @Nullable Cause lossCause;

	/** What a loss sends to the thread that has armed it. */
	private volatile @Nullable LossInterrupt armed;

	/** The thread that opened a handle, for the message that names it. */
	private volatile @Nullable Thread opener;

	/** Whether only the opener can end it. */
	private volatile boolean bound;

	/** Whether it lasts until a unit of work is complete. */
	private volatile boolean kept;

	Hold(KeyLock lock, Waiter waiter, OwnerToken token, Lease lease, long fencingToken, long start) {
		this.lock = lock;
		this.waiter = waiter;
		this.parameters = waiter.parameters();
		this.thread = waiter.thread();
		this.token = token;
		this.lease = lease;
		this.fencingToken = fencingToken;
		this.start = start;
		this.limit = waiter.options().deferred() ? start + Time.FOREVER : this.parameters.limitFrom(start);
	}

	// transitions

	/**
	 * Starts the limits of a hold that waited for the other keys of its request.
	 */
	void begin(long now) {
		this.start = now;
		this.limit = this.parameters.limitFrom(now);
	}

	/** The holder has lengthened the lease. */
	void extend(long limit) {
		this.lease.extend();
		this.limit = Time.later(this.limit, limit);
	}

	/**
	 * Starts a renewal if it is due, or so soon that it may go along with others.
	 */
	boolean startRenewalIfDue(long now) {
		boolean due = needsRenewal() && now - (this.lease.renewAt() - this.lease.window()) >= 0;
		if (due) {
			this.lease.renewing(now);
		}
		return due;
	}

	/** Declares the loss. */
	void lose(Cause cause) {
		this.lossCause = cause;
		this.state = State.LOST;
	}

	/** The store says, after the end of the hold, that it was lost. */
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

	/** The lock of its key. */
	KeyLock lock() {
		return this.lock;
	}

	LockParameters parameters() {
		return this.parameters;
	}

	@Nullable Thread thread() {
		return this.thread;
	}

	boolean isKept() {
		return this.kept;
	}

	OwnerToken token() {
		return this.token;
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
	boolean isOwnerDead() {
		Thread thread = this.opener;
		return this.bound && thread != null && !thread.isAlive();
	}

	/** Whether an error has ended its holder, who does not end it any more. */
	boolean isHolderGone() {
		return this.waiter.gone;
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
		return RenewalPolicy.isNeeded(this.lease.deadline(), this.limit, this.parameters.ttlNanos());
	}

	/** When the watchdog has to look at it. */
	long nextEvent() {
		return needsRenewal() ? Time.earlier(expiry(), this.lease.renewAt()) : expiry();
	}

	/** The time that should be left after a renewal at the given time. */
	Duration ttlToRequest(long now) {
		long left = this.limit - now;
		return (left < this.parameters.ttlNanos()) ? Duration.ofNanos(left) : this.parameters.ttl();
	}

	/** How long the lock must still be kept, because of its minimum; negative if not. */
	long keepFor(long now) {
		return this.start + this.parameters.minHold() - now;
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

	/** What a loss has to send, or null. */
	@Nullable LossInterrupt lossInterrupt() {
		return this.armed;
	}

	@Nullable Thread opener() {
		return this.opener;
	}

	@Override
	public String toString() {
		return "Lock '" + this.parameters.key() + "' (" + this.fencingToken + ", " + this.state + ")";
	}

	/**
	 * The interrupt of the thread that works under the lock, at its loss. To send it may
	 * block: it closes the channel that the thread reads or writes. A thread that is
	 * interrupted already is not interrupted again: that interrupt is somebody else's,
	 * and is not to be taken for this one.
	 */
	static final class LossInterrupt {

		private final Thread worker;

		private boolean sent;

		private boolean ended;

		private LossInterrupt(Thread worker) {
			this.worker = worker;
		}

		/**
		 * Ends the interrupts of the present thread: none arrives after it, and one that
		 * the work has not received is cleared.
		 * @param received whether the work ended by an interrupt: of those of losses, it
		 * has received one, so a flag that is set by now may be somebody else's
		 */
		static void endAll(List<LossInterrupt> interrupts, boolean received) {
			long sent = interrupts.stream().filter(LossInterrupt::end).count();
			if (sent > (received ? 1 : 0)) {
				Thread.interrupted();
			}
		}

		synchronized void send() {
			if (!this.ended && !this.worker.isInterrupted()) {
				this.sent = true;
				this.worker.interrupt();
			}
		}

		/**
		 * It does not arrive any more. Called by its thread, without the lock's monitor:
		 * one that is being sent is waited for.
		 * @return whether it was sent
		 */
		private synchronized boolean end() {
			this.ended = true;
			return this.sent;
		}

	}

}
