package io.github.lockspring.internal.engine;

import java.time.Duration;

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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

	@ParameterizedTest
	@ValueSource(ints = { 0, 60 })
	void interruptBeforeTheRequestCostsNoCommand(int waitTime) {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class)
			.isThrownBy(() -> this.template.tryAcquire(request().waitTime(Duration.ofSeconds(waitTime))));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.store.looks).isEmpty();
		assertNothingLeft();
	}

	@Test
	@Tag("interrupts")
	void interruptDuringAnAttemptLeavesTheAttemptToTheNext() {
		Waiting first = asking(request());
		Running<HeldLock> second = waitingBehind(request());
		first.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(first::get);
		first.attempt().acquired(1);
		assertThat(second.get().isHeld()).isTrue();
		assertThat(this.store.released).isEmpty();
	}

	@Test
	@Tag("interrupts")
	void interruptThatTheDriverIgnoresDoesNotUndoTheAcquisition() {
		this.store.onAcquire = (request) -> {
			Thread.currentThread().interrupt();
			return new AcquireResult.Acquired(1);
		};
		HeldLock lock = this.template.acquire(request());
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
	@Tag("interrupts")
	void releaseOnAnInterruptedThreadSetsTheFlagAsideAndRestoresIt() {
		HeldLock lock = held(request(), 1);
		this.store.onRelease = (request) -> {
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			return new ReleaseResult.Released();
		};
		Thread.currentThread().interrupt();
		lock.close();
		assertThat(Thread.interrupted()).isTrue();
		assertNothingLeft();
	}

	@Test
	@Tag("interrupts")
	void extensionOnAnInterruptedThreadIsCarriedOut() {
		HeldLock lock = held(request(), 1);
		this.store.onRenew = (request) -> {
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			return RenewResult.RENEWED;
		};
		Thread.currentThread().interrupt();
		lock.extend(Duration.ofMinutes(1));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(lock.remaining()).isGreaterThan(Duration.ofSeconds(59));
	}

}
