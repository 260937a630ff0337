package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What may happen to a lease at the same time: its end, a renewal and its answer, an
 * extension, the deadline, a loss, messages, the stop of the engine.
 */
@Tag("lincheck")
class LeaseLincheckTests {

	/** A lock that is held, and everything that can happen to it, at once. */
	public static class Lease extends EngineModel {

		private final HeldLock lock = this.locks.acquire(patiently());

		private final OwnerToken token = this.registry.present(KEY).read((state, waiting) -> state.claim.token());

		private final AtomicInteger told = new AtomicInteger();

		/** Whether anybody has seen that the lock is not held any more. */
		private volatile boolean over;

		private volatile boolean robbed;

		/** Whether the store may not answer: then nobody waits for a release. */
		private volatile boolean silent;

		@Operation
		public void look() {
			boolean overBefore = this.over;
			boolean held = this.lock.isHeld();
			check(!(held && overBefore), "a lease that was over is held again");
			if (!held) {
				this.over = true;
				check(this.lock.remaining().isZero(), "time remains of a lease that is over");
			}
		}

		@Operation
		public void close() {
			try {
				this.lock.close();
			}
			catch (LockLostException ex) {
				this.told.incrementAndGet();
			}
			this.over = true;
			look();
		}

		@Operation
		public void watch() {
			this.registry.watchdog().round();
			look();
		}

		/** The thread that renews and releases. */
		@Operation
		public void carryOut() {
			this.io.runAll();
			look();
		}

		@Operation
		public void extend() {
			try {
				this.lock.extend(Duration.ofSeconds(60));
			}
			catch (LockException | IllegalStateException ex) {
				check(!(ex instanceof LockLostException) || !this.lock.isHeld(), "lost, but held");
			}
			look();
		}

		/** It is time to renew. */
		@Operation
		public void aThirdPasses() {
			this.time.advance(10_000_000_000L);
			look();
		}

		/** Too late for the lease, but not for one that is lengthened now. */
		@Operation
		public void deadlinePasses() {
			this.time.advance(35_000_000_000L);
			look();
		}

		/** After a third: the lease is over, what a renewal gave would not be. */
		@Operation
		public void restPasses() {
			this.time.advance(22_000_000_000L);
			look();
		}

		/** Another instance gets the lock: the store says so with the next renewal. */
		@Operation
		public void rob() {
			this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
			this.robbed = this.store.rob(KEY);
		}

		@Operation
		public void storeFallsSilent() {
			this.silent = true;
			this.store.onRenew = (request) -> RenewResult.UNKNOWN;
		}

		@Operation
		public void othersWant() {
			this.registry.wanted(KEY, this.token);
		}

		@Operation
		public void lateGrant() {
			this.registry.granted(KEY, this.token, 1, true);
			look();
		}

		@Operation
		public void engineStops() {
			this.registry.stop();
			look();
		}

		@Validate
		public void oneEnd() {
			close();
			check(this.told.get() <= 1, "told twice of one loss");
			// a loss that a release finds when its caller has gone is only published
			boolean unheard = this.silent && this.losses.get() == 1 && this.told.get() == 0;
			check(unheard || this.losses.get() == this.told.get(),
					"published " + this.losses + " losses and threw " + this.told);
			checkNothingLeft();
			check(this.store.releases.get() == (this.robbed ? 0 : 1), "released " + this.store.releases + " times");
		}

	}

	/** The same when it is time to renew, and the renewal is about to be asked for. */
	public static class LeaseToRenew extends Lease {

		public LeaseToRenew() {
			aThirdPasses();
			watch();
		}

	}

	@Test
	void renewalAndDeadline() {
		Interleavings.modelCheck(LeaseToRenew.class, 150, "carryOut", "restPasses");
	}

	@Test
	void extensionAndDeadline() {
		Interleavings.modelCheck(Lease.class, 150, "extend,look", "deadlinePasses,watch,look");
	}

	@Test
	void extensionAndEndAndStop() {
		Interleavings.modelCheck(Lease.class, 150, "extend", "close", "engineStops");
	}

	@Test
	void everythingAtOnceUnderStress() {
		Interleavings.stress(Lease.class, 2000, "aThirdPasses,watch,restPasses,watch", "carryOut,extend,carryOut",
				"look,othersWant,close", "lateGrant,engineStops,look");
		Interleavings.stress(Lease.class, 2000, "aThirdPasses,watch,storeFallsSilent,aThirdPasses,watch",
				"carryOut,rob,carryOut", "look,look,close,look", "look,close,look,look");
	}

}
