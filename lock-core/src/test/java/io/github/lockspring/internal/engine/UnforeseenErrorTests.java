package io.github.lockspring.internal.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockUnavailableException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Errors of a caller on its way to the queue, and of an answer.
 */
class UnforeseenErrorTests extends EngineFixture {

	@Test
	void errorOfACallerOnItsWayToTheQueueIsNotTakenForAMissingThread() {
		this.store.free();
		failOnTheWayToTheQueue();
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> this.template.acquire(request()));
		this.template.acquire(request()).close();
		assertNothingLeft();
	}

	@Test
	void errorOfAFutureOnItsWayToTheQueueIsNotTakenForAMissingThread() {
		failOnTheWayToTheQueue();
		CompletableFuture<HeldLock> future = ((DefaultLockTemplate) this.template).acquireAsync(request(), (task) -> {
		});
		assertThatExceptionOfType(CompletionException.class).isThrownBy(future::join)
			.withCauseInstanceOf(StackOverflowError.class);
	}

	/** The first time that the clock is read when there is a lock of the key. */
	private void failOnTheWayToTheQueue() {
		this.time.afterReading(() -> {
			if (this.registry.present(KEY) != null) {
				throw new StackOverflowError();
			}
			failOnTheWayToTheQueue();
		});
	}

	@Test
	void interruptedThreadThatCannotBeWatchedKeepsItsFlag() {
		this.watchdogThread = (task) -> {
			throw new OutOfMemoryError("unable to create native thread");
		};
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(this.template.asLock(KEY)::lock);
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void answerAfterTheStopThatCannotBeUsedIsNotAwaited() {
		Waiting asking = asking(request());
		this.registry.stop();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(asking::get);
		assertThat(this.registry.isAnswerAwaited()).isTrue();
		// the first reading is for the recorder
		this.time.afterReading(() -> this.time.afterReading(() -> {
			throw new StackOverflowError();
		}));
		asking.attempt().acquired(1);
		assertThat(this.registry.isAnswerAwaited()).isFalse();
	}

}
