package io.github.lockspring.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.LockRequest;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseRequest;
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

	/** One lease runs out after the other, and somebody waits for being told. */
	public static class RunningOut extends Threads {

		private static final long LEASE = Duration.ofMillis(100).toNanos();

		private final Tenure first = tenure("first");

		/** Nobody looks at it yet. */
		private final Tenure second = tenure("second");

		private volatile @Nullable Thread waiting;

		public RunningOut() {
			this.table.watchdog.cancel(this.second);
		}

		final Tenure tenure(String key) {
			LockRequest request = LockRequest.of(key).ttl(Duration.ofNanos(LEASE));
			return ((Hold) this.locks.acquire(request)).tenure();
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
			await(this.losses, 1);
			this.second.deadline = this.time.nanoTime() + LEASE;
			this.table.watchdog.schedule(this.second, this.second.deadline);
			this.time.advance(LEASE);
			await(this.losses, 2);
			stop();
		}

		void stop() {
			this.table.watchdog.wake();
			this.watchdog.close();
		}

		@Override
		void onLoss() {
			Thread present = this.waiting;
			if (present != null) {
				this.time.unpark(present);
			}
		}

		@Validate
		public void bothAreLost() {
			check(this.losses.get() == 2, this.losses + " losses");
			check(this.first.state == Tenure.State.LOST && this.second.state == Tenure.State.LOST, "not lost");
			check(this.table.watchdog.size() == 0, "the watchdog still looks at something");
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
			OwnerToken token = new OwnerToken(this.table.instance(), this.posted.incrementAndGet(), 5000);
			this.table.courier.release(new ReleaseRequest(KEY, token), () -> {
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
	void nothingStaysWithTheCourier() {
		Interleavings.modelCheck(Posting.class, 200, "carryOut", "post,post,stop");
	}

}
