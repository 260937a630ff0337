package io.github.lockspring.internal.engine;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.internal.engine.AcquireFailure.Busy;
import io.github.lockspring.internal.engine.AcquireFailure.Interrupted;
import io.github.lockspring.internal.engine.AcquireFailure.Unavailable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that waits for one key: it is parked until its outcome is known.
 */
final class ThreadWaiter extends Waiter {

	private static final Logger logger = LoggerFactory.getLogger(ThreadWaiter.class);

	private final KeyLockRegistry registry;

	private final Thread thread = Thread.currentThread();

	/** Whether an interrupt arrived that does not end this wait. */
	private boolean interruptedMeanwhile;

	ThreadWaiter(KeyLockRegistry registry, LockParameters parameters, WaitOptions options) {
		super(parameters, options);
		this.registry = registry;
	}

	/**
	 * Waits until the outcome is known. Called once, by the thread that waits.
	 */
	Outcome await() {
		try {
			return isInterrupted() ? new Interrupted() : await(this.registry.enqueue(this));
		}
		catch (LockUnavailableException ex) {
			return new Unavailable(ex);
		}
		finally {
			if (this.interruptedMeanwhile) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private Outcome await(KeyLock lock) {
		try {
			Outcome known = park(lock);
			if (known instanceof Busy) {
				awaitRelease(lock.leaving());
			}
			return known;
		}
		catch (Throwable ex) {
			this.gone = true;
			lock.leave(this, new Interrupted(), now());
			if (outcome() instanceof Held hold) {
				new DefaultHeldLock(this.registry, hold).end(true);
			}
			throw ex;
		}
	}

	private Outcome park(KeyLock lock) {
		Outcome known;
		long until = options().until();
		while ((known = outcome()) == null) {
			long left = until - now();
			if (isInterrupted()) {
				lock.leave(this, new Interrupted(), now());
			}
			else if (left <= 0) {
				until = lock.timeOut(this, now());
			}
			else {
				this.registry.time().park(lock, left);
			}
		}
		return known;
	}

	/**
	 * Waits until the store has removed the token of the last waiter, but no longer than
	 * answers usually take. While it is queued, it may still be handed the lock, and
	 * callers that do not wait would be turned away although nobody holds it.
	 */
	private void awaitRelease(@Nullable Release leaving) {
		if (leaving != null) {
			try {
				Stages.join(leaving.firstTry(), this.registry.client().commandTimeout().dividedBy(4));
			}
			catch (LockUnavailableException ex) {
				logger.debug("It is repeated in the background", ex);
			}
		}
	}

	/** Returns whether an interrupt ends the wait; the flag then stays set. */
	private boolean isInterrupted() {
		if (!this.thread.isInterrupted()) {
			return false;
		}
		if (!options().interruptible()) {
			Thread.interrupted();
			this.interruptedMeanwhile = true;
		}
		return options().interruptible();
	}

	private long now() {
		return this.registry.time().nanoTime();
	}

	@Override
	void wake() {
		// a thread that wakes itself would not park the next time, wherever that is
		if (this.thread != Thread.currentThread()) {
			this.registry.time().unpark(this.thread);
		}
	}

	@Override
	boolean endsItself() {
		return true;
	}

	@Override
	Thread thread() {
		return this.thread;
	}

}
