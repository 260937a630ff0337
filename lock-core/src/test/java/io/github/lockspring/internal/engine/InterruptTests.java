package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An interrupt may come at every point: nothing is left behind, nobody else suffers, and
 * the flag is as it should be.
 */
class InterruptTests extends EngineFixture {

	@AfterEach
	void clearFlag() {
		Thread.interrupted();
	}

	@Test
	void interruptBeforeTheRequestCostsNoCommand() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class)
			.isThrownBy(() -> this.engine.template().acquire(request()));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.store.looks).isEmpty();
		assertNothingLeft();
	}

	@Test
	void interruptBeforeTheRequestCountsForASingleAttemptToo() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class)
			.isThrownBy(() -> this.engine.template().tryAcquire(request().waitTime(Duration.ZERO)));
		assertNothingLeft();
	}

	@Test
	@Tag("interrupts")
	void interruptDuringAnAttemptLeavesTheAttemptToTheNext() {
		Running<HeldLock> first = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		Running<HeldLock> second = waitingBehind(request());
		first.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(first::get);
		look.acquired(1);
		assertThat(second.get().isHeld()).isTrue();
		assertThat(this.store.released).isEmpty();
	}

	@Test
	void interruptOfAWaiterLeavesItsPlaceInTheQueueToTheNext() {
		Waiting first = waiting(request(), 100);
		Running<HeldLock> second = waitingBehind(request());
		first.running().thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(first.running()::get);
		this.store.messages().granted(KEY, first.attempt().token(), 101, false);
		assertThat(second.get().fencingToken()).isEqualTo(101);
		runBackground();
		assertThat(this.store.released).isEmpty();
	}

	@Test
	@Tag("interrupts")
	void interruptThatTheDriverIgnoresDoesNotUndoTheAcquisition() {
		this.store.onAcquire = (request) -> {
			Thread.currentThread().interrupt();
			return new AcquireResult.Acquired(1);
		};
		HeldLock lock = this.engine.template().acquire(request());
		assertThat(Thread.interrupted()).isTrue();
		assertThat(lock.isHeld()).isTrue();
	}

	/** The first request released the lock; the second one finds what came after it. */
	@Test
	@Tag("repeated-releases")
	void releaseThatWasInterruptedAndRepeatedIsNotKnownToBeALoss() {
		HeldLock lock = held(request(), 100);
		this.store.onRelease = (request) -> {
			if (this.store.released.size() == 1) {
				Thread.currentThread().interrupt();
				throw new LockUnavailableException("interrupted");
			}
			return new ReleaseResult.NotOwner(101);
		};
		lock.close();
		assertThat(Thread.interrupted()).isTrue();
		pass(Duration.ofMillis(500));
		assertThat(this.store.released).hasSize(2);
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertThat(events(LockEvent.Released.class)).hasSize(1);
		assertNothingLeft();
	}

	@Test
	void failureOfTheStoreToAnInterruptedCallerIsNoFailureForTheNext() {
		Running<HeldLock> first = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		Running<HeldLock> second = waitingBehind(request().waitTime(Duration.ofSeconds(1)));
		first.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(first::get);
		look.busy(TTL, 100);
		this.time.awaitParked(second.thread());
		advance(Duration.ofSeconds(1));
		assertThatExceptionOfType(io.github.lockspring.LockNotAcquiredException.class).isThrownBy(second::get);
	}

	@Test
	@Tag("interrupts")
	void releaseOnAnInterruptedThreadSetsTheFlagAsideAndRestoresIt() {
		this.store.free();
		HeldLock lock = this.engine.template().acquire(request());
		AtomicBoolean flagAside = new AtomicBoolean();
		this.store.onRelease = (request) -> {
			flagAside.set(!Thread.currentThread().isInterrupted());
			return new ReleaseResult.Released();
		};
		Thread.currentThread().interrupt();
		lock.close();
		assertThat(flagAside).isTrue();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.store.released).hasSize(1);
		assertNothingLeft();
	}

	@Test
	void releaseThatIsInterruptedIsRepeated() {
		this.store.free();
		HeldLock lock = this.engine.template().acquire(request());
		AtomicInteger calls = new AtomicInteger();
		this.store.onRelease = (request) -> {
			if (calls.incrementAndGet() == 1) {
				Thread.currentThread().interrupt();
				throw new LockUnavailableException("interrupted");
			}
			return new ReleaseResult.NotOwner(1);
		};
		lock.close();
		pass(Duration.ofMillis(500));
		assertThat(calls).hasValue(2);
		assertThat(Thread.interrupted()).isTrue();
		assertNothingLeft();
	}

	@Test
	void releaseWithOthersWaitingHandsOffThoughTheThreadIsInterrupted() {
		HeldLock lock = held(request(), 10);
		Running<HeldLock> next = waitingBehind(request());
		Thread.currentThread().interrupt();
		lock.close();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(next.get().fencingToken()).isEqualTo(11);
	}

	@Test
	@Tag("interrupts")
	void extensionOnAnInterruptedThreadIsCarriedOut() {
		this.store.free();
		HeldLock lock = this.engine.template().acquire(request());
		this.store.onRenew = (request) -> {
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			return RenewResult.RENEWED;
		};
		Thread.currentThread().interrupt();
		lock.extend(Duration.ofMinutes(1));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(lock.remaining()).isGreaterThan(Duration.ofSeconds(59));
	}

	@Test
	void interruptedWorkReleasesItsLock() {
		this.store.free();
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.engine.template().execute(request(), (lock) -> {
				throw new InterruptedException("as asked");
			}))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
		assertThat(this.store.released).hasSize(1);
		assertNothingLeft();
	}

}
