package io.github.lockspring.internal.engine;

import io.github.lockspring.internal.engine.support.Time;
import org.jspecify.annotations.Nullable;

/**
 * Something that waits for one key. It is told its outcome once, and woken whenever there
 * may be something for it to do. A parked thread is one kind of it.
 */
abstract class Waiter implements Runnable {

	/**
	 * How a waiter waits.
	 *
	 * @param until the time at which it gives up
	 * @param once whether it makes one attempt and never queues
	 * @param unavailableAfter how long the store may go without a result, from the first
	 * attempt that failed; {@link Time#FOREVER}: as long as the wait lasts
	 * @param interruptible whether an interrupt ends the wait
	 * @param deferred whether the hold's limits start later, when the other keys of the
	 * request are held too
	 */
	record WaitOptions(long until, boolean once, long unavailableAfter, boolean interruptible, boolean deferred) {

	}

	/**
	 * What a waiter is told, once: the lock is its own, or it does not get it.
	 */
	sealed interface Outcome permits Hold, AcquireFailure {

	}

	private final LockParameters parameters;

	private final WaitOptions options;

	private volatile @Nullable Outcome outcome;

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
	 * Tells the outcome. Called once, under the monitor of the key's lock.
	 */
	final void tell(Outcome outcome) {
		if (this.outcome != null) {
			throw new IllegalStateException("This waiter was told " + this.outcome + " before " + outcome);
		}
		this.outcome = outcome;
	}

	/**
	 * Wakes the waiter: there may be something to do. Must not block.
	 */
	@Override
	public abstract void run();

	/**
	 * Returns the thread that waits, or null if none does.
	 */
	abstract @Nullable Thread thread();

}
