package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.internal.engine.support.Watchdog;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.OwnerToken;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
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

	/** One thing is due after the other, and a thread waits for being told. */
	public static class RunningOut extends Threads {

		private static final long LEASE = Duration.ofMillis(100).toNanos();

		private final AtomicInteger due = new AtomicInteger();

		private final Watchdog<Once> dog = new Watchdog<>(this.time, this.watchdog, (batch) -> {
		}, () -> {
		}, Runnable::run);

		private volatile @Nullable Thread waiting;

		public RunningOut() {
			watchOnce();
		}

		private void watchOnce() {
			Once once = new Once();
			once.slot = this.dog.schedule(once, this.time.nanoTime() + LEASE, null);
			this.dog.start();
		}

		/** Is looked at once, and then no more. */
		final class Once implements Watchdog.Watched {

			private volatile Watchdog.@Nullable Slot slot;

			@Override
			public long due(Watchdog.Slot slot, long now) {
				RunningOut.this.dog.cancel(slot);
				RunningOut.this.due.incrementAndGet();
				Thread present = RunningOut.this.waiting;
				if (present != null) {
					RunningOut.this.time.unpark(present);
				}
				return -1;
			}

		}

		@Operation
		public void watch() {
			this.watchdog.work();
		}

		/** Only the watchdog can find out, at the one moment to which time moves. */
		@Operation
		public void bothRunOut() {
			this.waiting = Thread.currentThread();
			this.time.advance(LEASE);
			await(this.due, 1);
			watchOnce();
			this.time.advance(LEASE);
			await(this.due, 2);
			this.dog.wake();
			this.watchdog.close();
		}

		@Validate
		public void bothWereDue() {
			check(this.due.get() == 2, this.due + " were due");
			check(this.dog.size() == 0, "the watchdog still looks at something");
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
	void watchdogDoesNotEndOverALeaseThatHasJustBegun() {
		Interleavings.modelCheck(RunningOut.class, 600, "watch", "bothRunOut");
	}

	@Test
	void nothingStaysWithTheDispatcher() {
		Interleavings.modelCheck(Posting.class, 200, "carryOut", "post,post,stop");
	}

}
