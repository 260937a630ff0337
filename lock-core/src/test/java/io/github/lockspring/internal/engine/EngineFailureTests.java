package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.StoreTraits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What happens inside the process when something goes wrong that nobody foresaw, and at
 * the seams between states.
 */
class EngineFailureTests extends EngineFixture {

	@Test
	void attemptThatEndsWithAnErrorIsRepeatedForAll() {
		Waiting first = asking(request());
		Running<HeldLock> second = waitingBehind(request());
		first.attempt().answer().completeExceptionally(new StackOverflowError());
		advance(Duration.ofSeconds(1));
		ScriptedStore.Asked next = this.store.nextLook();
		assertThat(next.token()).isEqualTo(first.token());
		next.acquired(101);
		first.get().close();
		second.get().close();
		assertNothingLeft();
	}

	@Test
	void callerThatDiesOfAnErrorLeavesNothing() {
		Waiting waiting = waiting(request(), 100);
		this.time.afterReading(() -> {
			throw new StackOverflowError();
		});
		this.time.unpark(waiting.thread());
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(waiting::get)
			.withRootCauseInstanceOf(StackOverflowError.class);
		assertThat(this.store.releasedTokens()).containsExactly(waiting.token());
		assertNothingLeft();
	}

	// defect 14
	@Test
	void callerWhoseCleanUpDiesTooIsSkippedInTheQueue() {
		Waiting ghost = waiting(request(), 100);
		this.time.afterReading(() -> {
			failNextReading();
			throw new StackOverflowError();
		});
		this.time.unpark(ghost.thread());
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(ghost::get)
			.withRootCauseInstanceOf(StackOverflowError.class);
		Running<HeldLock> next = waitingBehind(request());
		this.store.messages().granted(KEY, ghost.token(), 101, false);
		next.get().close();
		assertNothingLeft();
	}

	// defect 14
	@Test
	void lockOfACallerThatDiesBeforeItKnowsOfItIsFreeForTheNext() {
		this.store.free();
		failReadingOfTheHolder();
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> this.template.acquire(request()));
		this.template.acquire(request()).close();
		assertNothingLeft();
	}

	// defect 14
	@Test
	void lockOfACallerThatDiesAtItsEndIsReleasedInsteadOfRenewedForEver() {
		this.store.free();
		assertThatExceptionOfType(StackOverflowError.class)
			.isThrownBy(() -> this.template.executeWithoutResult(request(), (lock) -> failNextReading()));
		pass(TTL.dividedBy(2));
		assertThat(this.store.renewed).isEmpty();
		assertThat(this.store.released).hasSize(1);
		assertNothingLeft();
	}

	private void failNextReading() {
		this.time.afterReading(() -> {
			throw new StackOverflowError();
		});
	}

	/** The first time that the holder looks at the clock. */
	private void failReadingOfTheHolder() {
		this.time.afterReading(() -> {
			if (this.engine.lock(KEY).map(LockEngine.LocalLock::hold).isPresent()) {
				throw new StackOverflowError();
			}
			failReadingOfTheHolder();
		});
	}

	@Test
	void callerThatFindsALeaseThatIsOverIsKnownToTheTable() {
		held(request(), 1);
		this.time.advance(TTL);
		Waiting second = asking(request());
		assertThat(this.registry.present(KEY)).isNotNull();
		second.attempt().acquired(2);
		second.get().close();
		assertNothingLeft();
	}

	@Test
	void failureThatNoWaitMendsEndsTheWaitsOfAllAtOnce() {
		Waiting first = asking(request());
		List<Running<HeldLock>> all = List.of(first.running(), waitingBehind(request()), waitingBehind(request()));
		first.attempt().answer().completeExceptionally(new LockUnavailableException("wrong password", null, true));
		for (Running<HeldLock> each : all) {
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(each::get)
				.withMessageContaining("could not be requested, and waiting does not help")
				.satisfies((ex) -> assertThat(ex.isPermanent()).isTrue());
		}
		assertNothingLeft();
		assertThat(this.store.looks).hasSize(1);
	}

	@Test
	void failureAfterTheEndOfAWaitTellsItsReason() {
		Waiting asking = asking(request().waitTime(Duration.ofMillis(100)));
		this.time.awaitParked(asking.thread());
		this.time.advance(Duration.ofMillis(110));
		this.time.awaitParked(asking.thread());
		asking.attempt().fails();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(asking::get)
			.withStackTraceContaining("no answer");
		assertNothingLeft();
	}

	@Test
	void waitThatEndsDuringAnAttemptAfterAFailureTellsItsReason() {
		Waiting asking = asking(request().waitTime(Duration.ofMillis(1200)));
		asking.attempt().fails();
		this.time.awaitParked(asking.thread());
		advance(Duration.ofSeconds(1));
		this.store.nextLook();
		this.time.awaitParked(asking.thread());
		this.time.advance(Duration.ofMillis(200));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(asking::get)
			.withStackTraceContaining("no answer");
	}

	@Test
	void singleAttemptThatIsInterruptedWaitsForItsAnswer() {
		Running<Boolean> running = start(
				() -> this.template.asLock(KEY).tryLock() || !Thread.currentThread().isInterrupted());
		ScriptedStore.Asked attempt = this.store.nextLook();
		running.thread().interrupt();
		this.time.awaitParked(running.thread());
		assertThat(this.store.isAsked()).isFalse();
		attempt.busy(TTL, 100);
		assertThat(running.get()).as("acquired, or not interrupted any more").isFalse();
		assertThat(this.store.released).isEmpty();
		assertNothingLeft();
	}

	@Test
	void lockThatTheWatchdogCannotWatchIsNotAcquired() {
		this.store.free();
		this.watchdogThread = (task) -> {
			throw new OutOfMemoryError("unable to create native thread");
		};
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.template.acquire(request()))
			.havingCause()
			.withMessageContaining("unable to create native thread");
		assertThat(this.store.looks).isEmpty();
		assertNothingLeft();
		List<Runnable> started = new ArrayList<>();
		this.watchdogThread = started::add;
		this.template.acquire(request());
		assertThat(started).hasSize(1);
	}

	@Test
	void renewalThatIsLostOnItsWayIsTriedAgainAfterAnotherThird() {
		this.store.traits = StoreTraits.exact().withBlocking(true);
		HeldLock lock = held(request(), 1);
		this.background = (task) -> {
		};
		advance(Duration.ofSeconds(10));
		this.background = Runnable::run;
		advance(Duration.ofSeconds(4));
		assertThat(this.store.renewed).isEmpty();
		advance(Duration.ofSeconds(6));
		assertThat(this.store.renewed).hasSize(1);
		advance(Duration.ofSeconds(20));
		assertThat(lock.isHeld()).isTrue();
	}

	static List<Function<ReleaseRequest, ReleaseResult>> noResults() {
		return List.of((request) -> null, (request) -> {
			throw new NoClassDefFoundError("gone");
		});
	}

	@ParameterizedTest
	@MethodSource("noResults")
	void releaseWithoutAResultIsRepeated(Function<ReleaseRequest, ReleaseResult> noResult) {
		HeldLock lock = held(request(), 1);
		this.store.onRelease = noResult;
		lock.close();
		assertThat(this.store.released).hasSize(1);
		this.store.answerReleases();
		advance(Duration.ofMillis(500));
		assertThat(this.store.released).hasSize(2);
		assertNothingLeft();
	}

	static List<Function<AcquireRequest, AcquireResult>> noAcquisitions() {
		return List.of((request) -> null, (request) -> {
			throw new StackOverflowError();
		}, (request) -> {
			throw new IllegalArgumentException("a bug");
		});
	}

	@ParameterizedTest
	@MethodSource("noAcquisitions")
	void acquisitionWithoutAResultIsUnavailable(Function<AcquireRequest, AcquireResult> noResult) {
		this.store.onAcquire = noResult;
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.template.acquire(request().waitTime(Duration.ZERO)));
		assertThat(this.store.released).hasSize(1);
		assertNothingLeft();
	}

	@Test
	void lockOfAnotherLengthThatTakesOverAnOwnershipRequestsItsOwnLength() {
		Waiting first = waiting(request().waitTime(Duration.ofMillis(500)), 100);
		Running<HeldLock> second = waitingBehind(request().ttl(Duration.ofSeconds(3)));
		advance(Duration.ofMillis(500));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(first::get);
		advance(Duration.ofMillis(500));
		ScriptedStore.Asked attempt = this.store.nextLook();
		assertThat(attempt.request().ttl()).isEqualTo(Duration.ofSeconds(3));
		attempt.acquired(101);
		assertThat(second.get().remaining()).isLessThan(Duration.ofSeconds(3));
	}

	@Test
	void storeThatCannotTakeALockAwayIsNamed() {
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> this.engine.forceRelease("a"))
			.withMessage("Lock 'a' is not held by this instance, and the store cannot release it");
	}

	@Test
	void forcedReleaseThatFailsIsSaidAndRepeated() {
		HeldLock lock = held(request(), 1);
		this.store.failReleases();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.engine.forceRelease(KEY))
			.withMessage("no answer");
		assertThat(lock.isHeld()).isFalse();
		this.store.answerReleases();
		advance(Duration.ofMillis(500));
		assertNothingLeft();
	}

}
