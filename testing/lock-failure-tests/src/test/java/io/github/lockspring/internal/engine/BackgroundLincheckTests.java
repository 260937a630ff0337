package io.github.lockspring.internal.engine;

import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.OwnerToken;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The two threads of the engine: when they sleep, end, and are started again.
 */
@Tag("lincheck")
class BackgroundLincheckTests {

	/** A thread of the engine beside threads that wait for what it does. */
	abstract static class Threads extends EngineModel {

		/** Waits for something that another thread announces by unparking this one. */
		final void await(AtomicInteger counter, int atLeast) {
			while (true) {
				this.time.nanoTime();
				if (counter.get() >= atLeast) {
					return;
				}
				this.time.park(this, Time.FOREVER);
			}
		}

	}

	/** Releases are given to the thread that asks the store, and waited for. */
	public static class Posting extends Threads {

		private final AtomicInteger posted = new AtomicInteger();

		private final AtomicInteger posters;

		public Posting() {
			this(1);
		}

		Posting(int posters) {
			this.posters = new AtomicInteger(posters);
		}

		@Operation
		public void carryOut() {
			this.io.work();
		}

		@Operation
		public void post() {
			Thread poster = Thread.currentThread();
			AtomicInteger done = new AtomicInteger();
			OwnerToken token = new OwnerToken(this.registry.instance(), this.posted.incrementAndGet(), 5000);
			this.registry.dispatcher().release(new ReleaseRequest(KEY, token), (result) -> {
				done.incrementAndGet();
				this.time.unpark(poster);
			});
			await(done, 1);
			check(done.get() == 1, "done twice");
		}

		@Operation
		public void stop() {
			if (this.posters.decrementAndGet() == 0) {
				this.io.close();
			}
		}

		@Validate
		public void nothingIsLeft() {
			checkNothingLeft();
		}

	}

	@Test
	void nothingStaysWithTheDispatcher() {
		Interleavings.modelCheck(Posting.class, 200, "carryOut", "post,post,stop");
	}

}
