package io.github.lockspring.internal.engine;

import io.github.lockspring.HeldLock;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import io.github.lockspring.store.StoreTraits;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The callers of one key in one instance.
 */
@Tag("lincheck")
class LocalQueueLincheckTests {

	/** Everybody waits for as long as it takes, so everybody must get the lock. */
	public static class Users extends EngineModel {

		private final Resource resource = new Resource();

		{
			// every request is answered before anything else happens
			this.store.traits = StoreTraits.exact();
		}

		@Operation
		public void use() {
			try (HeldLock lock = this.locks.acquire(patiently())) {
				this.resource.use(lock);
			}
			this.io.runAll();
		}

		@Validate
		public void nothingIsLeft() {
			checkNothingLeft();
		}

	}

	/** The lock is held; others wait. */
	public static class Waiting extends Users {

		private final HeldLock held = this.locks.acquire(patiently());

		/** A third is left: the lock is passed on, and its lease lengthened soon. */
		@Operation
		public void releaseLate() {
			this.time.advance(15_000_000_000L);
			this.held.close();
		}

	}

	@Test
	void everyCallerGetsTheLockAndNoTwoAtATime() {
		Interleavings.modelCheck(Users.class, 200, "use", "use");
	}

	@Test
	void lockIsHandedOffLateInItsLease() {
		Interleavings.modelCheck(Waiting.class, 200, "releaseLate", "use", "use");
	}

}
