package io.github.lockspring.internal.engine;

import java.util.Objects;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.AcquireFailure.Interrupted;
import io.github.lockspring.internal.engine.AcquireFailure.Unavailable;
import io.github.lockspring.internal.engine.WaiterAction.AcquireAttempt;
import io.github.lockspring.internal.engine.WaiterAction.Done;
import io.github.lockspring.internal.engine.WaiterAction.Park;
import io.github.lockspring.internal.engine.support.LockRecorder.Handover;
import io.github.lockspring.store.LockStore.AcquireResult;
import org.jspecify.annotations.Nullable;

/**
 * A thread that waits for one key: it queues, sends a request when it is told to, and
 * parks in between.
 */
final class ThreadWaiter extends Waiter {

	private final KeyLockRegistry registry;

	private final Thread thread = Thread.currentThread();

	private @Nullable KeyLock lock;

	/** Whether the recorder knows that it waits. */
	private boolean waiting;

	/** Whether the store, asked for the lock, found it free. */
	private boolean foundFree;

	/** Whether an attempt without a result may have been carried out. */
	private boolean unanswered;

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
		this.registry.client().awaitConnection();
		if (isInterrupted()) {
			return new Interrupted();
		}
		try {
			this.registry.watchdog().start();
		}
		catch (RuntimeException | Error ex) {
			return new Unavailable(
					new LockUnavailableException("The thread that watches leases could not be started: " + ex, ex));
		}
		try {
			WaiterAction action = enqueue();
			while (!(action instanceof Done)) {
				perform(action);
				action = next();
			}
			Outcome outcome = Objects.requireNonNull(outcome());
			return (outcome instanceof Hold hold) ? recorded(hold) : outcome;
		}
		catch (Throwable ex) {
			abandon();
			throw ex;
		}
		finally {
			if (this.waiting) {
				this.registry.recording().add((to) -> to.waiting(parameters().name(), -1));
			}
			if (this.interruptedMeanwhile) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private Hold recorded(Hold hold) {
		Handover handover = handover(hold);
		this.registry.recording().add((to) -> to.held(parameters().name(), handover));
		return hold;
	}

	private @Nullable Handover handover(Hold hold) {
		if (hold.isHandedOff()) {
			return Handover.LOCAL;
		}
		return this.foundFree ? null : Handover.REMOTE;
	}

	/**
	 * Returns the lock of the key, once the wait has begun.
	 */
	KeyLock lock() {
		return Objects.requireNonNull(this.lock);
	}

	private WaiterAction enqueue() {
		WaiterAction action;
		do {
			this.lock = this.registry.lock(parameters().key());
			action = this.lock.enqueue(this, now());
		}
		while (action == null);
		return action;
	}

	private WaiterAction next() {
		if (outcome() == null && isInterrupted()) {
			lock().cancel(this, new Interrupted(), now());
		}
		return lock().next(this, now());
	}

	private void perform(WaiterAction action) {
		if (action instanceof AcquireAttempt attempt) {
			acquire(attempt);
		}
		else if (action instanceof Park park) {
			if (!this.waiting) {
				this.waiting = true;
				this.registry.recording().add((to) -> to.waiting(parameters().name(), 1));
			}
			this.registry.time().park(lock(), park.nanos());
		}
	}

	private void acquire(AcquireAttempt attempt) {
		AcquireResult result;
		try {
			result = this.registry.client().acquire(attempt.request());
		}
		catch (LockUnavailableException ex) {
			this.unanswered = true;
			lock().failed(this, attempt, ex, this.thread.isInterrupted(), now());
			return;
		}
		this.registry.dispatcher().answered(attempt.request().key());
		// the lock that an earlier attempt took without an answer was free too
		this.foundFree = result instanceof AcquireResult.Acquired acquired
				&& (this.unanswered || !acquired.alreadyOwned());
		lock().answered(this, attempt, result, now());
	}

	/** Goes away after an unexpected error, whatever it was doing. */
	private void abandon() {
		if (this.lock == null) {
			return;
		}
		this.lock.cancel(this, new Interrupted(), now());
		if (outcome() instanceof Hold hold) {
			new DefaultHeldLock(this.registry, lock(), recorded(hold)).discard();
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
	public void run() {
		// a thread that wakes itself would not park the next time, wherever that is
		if (this.thread != Thread.currentThread()) {
			this.registry.time().unpark(this.thread);
		}
	}

	@Override
	Thread thread() {
		return this.thread;
	}

}
