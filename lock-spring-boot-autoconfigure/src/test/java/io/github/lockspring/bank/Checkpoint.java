package io.github.lockspring.bank;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.bank.Round.Moment;
import io.github.lockspring.bank.Transfer.Step;
import io.github.lockspring.testsupport.process.Conversation;
import org.jspecify.annotations.Nullable;

/**
 * Holds one transfer up at a given moment until it is told to go on. All threads of a
 * worker pass it; the thread that talks with the test says when.
 */
final class Checkpoint {

	static final String DETAINED = "detained";

	private final AtomicReference<@Nullable Moment> wanted = new AtomicReference<>();

	private final Conversation test;

	private volatile CountDownLatch barrier = new CountDownLatch(0);

	Checkpoint(Conversation test) {
		this.test = test;
	}

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
			transfer.reach(Step.DETAINED);
			this.test.say(DETAINED + " " + transfer.source() + " " + transfer.target());
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
