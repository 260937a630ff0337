package io.github.lockspring.bank;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * Holds one transfer up at a given moment until it is told to go on, so that what happens
 * to its process or to Redis happens in that very moment. All threads of a worker pass
 * it; the thread that talks with the test says who is to be held up.
 */
final class Checkpoint {

	static final String DETAINED = "detained";

	private final AtomicReference<@Nullable Moment> wanted = new AtomicReference<>();

	private volatile CountDownLatch barrier = new CountDownLatch(0);

	void detain(Moment moment) {
		this.barrier = new CountDownLatch(1);
		this.wanted.set(moment);
	}

	void free() {
		this.wanted.set(null);
		this.barrier.countDown();
	}

	void pass(Moment moment, Transfer transfer) {
		if (this.wanted.get() == moment && this.wanted.compareAndSet(moment, null)) {
			transfer.detain();
			System.out.println(DETAINED + " " + transfer.source() + " " + transfer.target());
			try {
				if (!this.barrier.await(1, TimeUnit.MINUTES)) {
					throw new IllegalStateException("Forgotten at the checkpoint");
				}
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}
	}

}
