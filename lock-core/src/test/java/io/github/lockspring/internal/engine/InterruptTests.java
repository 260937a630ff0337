package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import org.junit.jupiter.api.AfterEach;
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
	void interruptDuringAnAttemptLeavesTheOwnershipToTheNextWhichRetriesAtOnce() {
		Running<HeldLock> first = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		Running<HeldLock> second = waitingBehind(request());
		first.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(first::get);
		ScriptedStore.Asked next = this.store.nextLook();
		assertThat(next.token()).isEqualTo(look.token());
		next.acquired(1);
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
		assertThat(this.store.released).hasSize(2);
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertThat(events(LockEvent.Released.class)).hasSize(1);
		assertNothingLeft();
	}

	@Test
	void releaseThatWasRepeatedAfterTheDeadlineIsALoss() {
		HeldLock lock = held(request(), 100);
		this.store.onRelease = (request) -> {
			if (this.store.released.size() == 1) {
				Thread.currentThread().interrupt();
				throw new LockUnavailableException("interrupted");
			}
			advance(TTL);
			return new ReleaseResult.NotOwner(101);
		};
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void failureOfTheStoreToAnInterruptedCallerIsNoFailureForTheNext() {
		Running<HeldLock> first = acquire(request());
		this.store.nextLook();
		Running<HeldLock> second = waitingBehind(request().waitTime(Duration.ofSeconds(1)));
		first.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(first::get);
		this.store.nextLook().busy(TTL, 100);
		this.time.awaitParked(second.thread());
		advance(Duration.ofSeconds(1));
		assertThatExceptionOfType(io.github.lockspring.LockNotAcquiredException.class).isThrownBy(second::get);
		assertThat(this.store.inboxDoubted).isZero();
	}

	@Test
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
		assertThat(calls).hasValue(2);
		assertThat(Thread.interrupted()).isTrue();
		assertNothingLeft();
	}

	@Test
	void releaseThatIsInterruptedAgainAndAgainEnds() {
		this.store.free();
		HeldLock lock = this.engine.template().acquire(request());
		this.store.onRelease = (request) -> {
			Thread.currentThread().interrupt();
			throw new LockUnavailableException("interrupted");
		};
		lock.close();
		assertThat(this.store.released).hasSize(3);
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
	void extensionOnAnInterruptedThreadIsCarriedOut() {
		this.store.free();
		HeldLock lock = this.engine.template().acquire(request());
		AtomicInteger calls = new AtomicInteger();
		this.store.onRenew = (request) -> {
			if (calls.incrementAndGet() == 1) {
				Thread.currentThread().interrupt();
				throw new LockUnavailableException("interrupted");
			}
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
