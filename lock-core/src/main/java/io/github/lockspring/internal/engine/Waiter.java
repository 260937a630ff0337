package io.github.lockspring.internal.engine;

import io.github.lockspring.internal.engine.support.Time;
import org.jspecify.annotations.Nullable;

/**
 * Waits for one key, as a parked thread or as a future. Receives its outcome once, and is
 * woken then.
 */
abstract class Waiter {

	/**
	 * How a waiter waits.
	 *
	 * @param until the time at which it gives up; never, where the wait ends otherwise
	 * @param once whether it makes one attempt and never queues; the wait then ends with
	 * the attempt
	 * @param unavailableAfter how long the store may go without a result, from the first
	 * attempt that failed; {@link Time#FOREVER}: as long as the wait lasts
	 * @param interruptible whether an interrupt ends the wait
	 * @param deferred whether the hold's limits start later, when the other keys of the
	 * request are held too
	 */
	record WaitOptions(long until, boolean once, long unavailableAfter, boolean interruptible, boolean deferred) {

		/** Gives up after a time; without one it makes one attempt. */
		static WaitOptions within(long now, long nanos, boolean interruptible, boolean deferred) {
			boolean once = nanos <= 0;
			return new WaitOptions(now + (once ? Time.FOREVER : nanos), once, Time.FOREVER, interruptible, deferred);
		}

		/** Gives up only if the store goes without a result for too long. */
		static WaitOptions unbounded(long now, long unavailableAfter, boolean interruptible) {
			return new WaitOptions(now + Time.FOREVER, false, unavailableAfter, interruptible, false);
		}

		/** Gives up later. */
		WaitOptions later(long nanos) {
			return new WaitOptions(this.until + nanos, this.once, this.unavailableAfter, this.interruptible,
					this.deferred);
		}

	}

	/**
	 * The outcome of a wait, set once: a hold of the lock, or why there is none.
	 */
	sealed interface Outcome permits Held, AcquireFailure {

	}

	private final LockParameters parameters;

	private final WaitOptions options;

	/** Whether it waits for others, and not only for an answer. */
	private boolean waiting;

	private volatile @Nullable Outcome outcome;

	/**
	 * Set when an error, such as a {@link StackOverflowError}, ends the waiting or
	 * holding caller; one volatile write, since calls may fail then. The next event skips
	 * the waiter; the next one that lets the time pass ends its hold.
	 */
	volatile boolean gone;

	Waiter(LockParameters parameters, WaitOptions options) {
		this.parameters = parameters;
		this.options = options;
	}

	final LockParameters parameters() {
		return this.parameters;
	}

	final WaitOptions options() {
		return this.options;
	}

	/**
	 * Returns the outcome, or null while it is unknown.
	 */
	final @Nullable Outcome outcome() {
		return this.outcome;
	}

	/**
	 * Sets the outcome. Called once, under the monitor of the key's lock.
	 */
	final void tell(Outcome outcome) {
		if (this.outcome != null) {
			throw new IllegalStateException("This waiter was told " + this.outcome + " before " + outcome);
		}
		this.outcome = outcome;
	}

	/**
	 * It has to wait for others. Called under the monitor of the key's lock.
	 * @return whether it did not before
	 */
	final boolean beginsToWait() {
		boolean begins = !this.waiting;
		this.waiting = true;
		return begins;
	}

	/** Whether it has had to wait for others. */
	final boolean isWaiting() {
		return this.waiting;
	}

	/** An error ends the caller that waits, or that holds the lock it has waited for. */
	final void dies() {
		this.gone = true;
	}

	/**
	 * The outcome is known. Must not block.
	 */
	abstract void wake();

	/**
	 * Returns whether it gives up by itself when its time is over, by
	 * {@link KeyLock#timeOut}.
	 */
	abstract boolean endsItself();

	/**
	 * Returns the thread that waits, or null if none does.
	 */
	abstract @Nullable Thread thread();

	/**
	 * Returns whether the thread that waits has opened the handle of a hold itself.
	 */
	final boolean hasOpened(Held hold) {
		return thread() != null && thread() == hold.opener();
	}

}
