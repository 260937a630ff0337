package io.github.lockspring.engine;

import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * Interrupts the thread that works under a lock when the lock is lost, and never after
 * its work.
 * <p>
 * For maintainers: {@code worker} is the thread to interrupt. A loss takes it out and
 * interrupts it, both under the entry's lock; the end of the work takes it out by a
 * compare-and-set. If a loss was first, the end waits for that lock, so that the
 * interrupt has arrived and can be cleared.
 */
final class WorkerInterrupt {

	private final AtomicReference<@Nullable Thread> worker = new AtomicReference<>();

	private final LockEntry entry;

	WorkerInterrupt(LockEntry entry) {
		this.entry = entry;
	}

	/**
	 * From now on a loss interrupts the present thread.
	 * @return false if a loss interrupts a thread already, because of an outer call
	 */
	boolean arm() {
		return this.worker.compareAndSet(null, Thread.currentThread());
	}

	/** Declares the loss. With the entry's lock held. */
	void fire() {
		Thread thread = this.worker.getAndSet(null);
		if (thread != null) {
			thread.interrupt();
		}
	}

	/**
	 * Ends {@link #arm}: no interrupt of ours arrives after it, and one that did arrive
	 * is cleared.
	 */
	void disarm() {
		if (!this.worker.compareAndSet(Thread.currentThread(), null)) {
			this.entry.lock();
			this.entry.unlock();
			Thread.interrupted();
		}
	}

}
