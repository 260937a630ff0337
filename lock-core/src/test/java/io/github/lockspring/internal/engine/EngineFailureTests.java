package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.support.EngineThreads;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
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
		Waiting first = waiting(request(), 100);
		Running<HeldLock> second = waitingBehind(request());
		advance(Duration.ofSeconds(1));
		ScriptedStore.Asked attempt = this.store.nextLook();
		attempt.answer().completeExceptionally(new StackOverflowError());
		advance(Duration.ofSeconds(1));
		ScriptedStore.Asked next = this.store.nextLook();
		assertThat(next.token()).isEqualTo(attempt.token());
		next.acquired(101);
		first.running().get().close();
		second.get().close();
		assertNothingLeft();
	}

	@Test
	void callerThatDiesOfAnErrorLeavesItsPlaceToTheNext() {
		Waiting first = waiting(request(), 100);
		Running<HeldLock> second = waitingBehind(request());
		die(first.running());
		assertThat(this.store.released).isEmpty();
		advance(Duration.ofSeconds(1));
		ScriptedStore.Asked next = this.store.nextLook();
		assertThat(next.token()).isEqualTo(first.attempt().token());
		next.acquired(101);
		second.get().close();
		assertNothingLeft();
	}

	@Test
	void callerThatDiesOfAnErrorAloneLeavesNothing() {
		Waiting alone = waiting(request(), 100);
		die(alone.running());
		assertThat(this.store.releasedTokens()).containsExactly(alone.attempt().token());
		assertNothingLeft();
	}

	private void die(Running<HeldLock> waiting) {
		this.time.afterReading(() -> {
			throw new StackOverflowError();
		});
		this.time.unpark(waiting.thread());
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(waiting::get)
			.withRootCauseInstanceOf(StackOverflowError.class);
	}

	@Test
	void callerThatFindsALeaseThatIsOverIsKnownToTheTable() {
		held(request(), 1);
		this.time.advance(TTL);
		Running<HeldLock> second = acquire(request());
		ScriptedStore.Asked attempt = this.store.nextLook();
		List<KeyLock> entries = new ArrayList<>();
		this.registry.locks().forEach(entries::add);
		assertThat(entries).hasSize(1);
		attempt.acquired(2);
		second.get().close();
		assertNothingLeft();
	}

	@Test
	void failedAttemptBeforeAHandOverDoesNotEndTheWaitOfThoseBehind() {
		Waiting first = waiting(request(), 100);
		advance(Duration.ofSeconds(1));
		this.store.nextLook().fails();
		this.store.messages().granted(KEY, first.attempt().token(), 101, false);
		this.store.nextLook().acquired(101);
		HeldLock lock = first.running().get();
		Running<Boolean> second = start(() -> {
			this.engine.template().asLock(KEY).lock();
			return true;
		});
		this.time.awaitParked(second.thread());
		for (int i = 0; i < 20; i++) {
			advance(Duration.ofSeconds(1));
			this.time.awaitParked(second.thread());
		}
		lock.close();
		assertThat(second.get()).isTrue();
	}

	@Test
	void failureThatNoWaitMendsEndsTheWaitsOfAllAtOnce() {
		Running<HeldLock> first = acquire(request());
		ScriptedStore.Asked attempt = this.store.nextLook();
		List<Running<HeldLock>> all = List.of(first, waitingBehind(request()), waitingBehind(request()));
		attempt.answer().completeExceptionally(new LockUnavailableException("wrong password", null, true));
		for (Running<HeldLock> each : all) {
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(each::get)
				.withMessage(
						"Lock 'order:42' could not be requested, and waiting does not help. The cause says which server, and why")
				.satisfies((ex) -> assertThat(ex.isPermanent()).isTrue());
		}
		assertNothingLeft();
		assertThat(this.store.looks).hasSize(1);
	}

	@Test
	void failureAfterTheEndOfAWaitTellsItsReason() {
		Running<HeldLock> running = acquire(request().waitTime(Duration.ofMillis(100)));
		ScriptedStore.Asked attempt = this.store.nextLook();
		this.time.awaitParked(running.thread());
		this.time.advance(Duration.ofMillis(110));
		this.time.awaitParked(running.thread());
		attempt.answer().completeExceptionally(new LockUnavailableException("connection refused"));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get)
			.withStackTraceContaining("connection refused");
		assertNothingLeft();
	}

	@Test
	void waitThatEndsDuringAnAttemptAfterAFailureTellsItsReason() {
		Running<HeldLock> running = acquire(request().waitTime(Duration.ofMillis(1200)));
		this.store.nextLook().answer().completeExceptionally(new LockUnavailableException("connection refused"));
		this.time.awaitParked(running.thread());
		advance(Duration.ofSeconds(1));
		this.store.nextLook();
		this.time.awaitParked(running.thread());
		this.time.advance(Duration.ofMillis(200));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get)
			.withStackTraceContaining("connection refused");
	}

	@Test
	void singleAttemptThatIsInterruptedWaitsForItsAnswer() {
		Running<Boolean> running = start(
				() -> this.engine.template().asLock(KEY).tryLock() || !Thread.currentThread().isInterrupted());
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
	void acquisitionForACallerWhoseEngineHasStoppedIsReleased() {
		Running<HeldLock> running = acquire(request());
		ScriptedStore.Asked attempt = this.store.nextLook();
		this.time.awaitParked(running.thread());
		Running<Boolean> stopping = start(() -> {
			this.engine.stop();
			return true;
		});
		this.time.awaitParked(stopping.thread());
		this.time.advance(Duration.ofSeconds(11));
		stopping.get();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get)
			.withMessageContaining("stopped");
		attempt.acquired(1);
		assertThat(this.store.releasedTokens()).containsExactly(attempt.token(), attempt.token());
		assertNothingLeft();
	}

	@Test
	void lockThatTheWatchdogCannotWatchIsNotAcquired() {
		List<Runnable> started = new ArrayList<>();
		boolean[] outOfThreads = { true };
		KeyLockRegistry registry = new KeyLockRegistry(this.store, settings(), LockEvents.NOBODY, LockRecorder.NONE,
				this.time, new EngineThreads.Executors(Runnable::run, Runnable::run, Runnable::run, (task) -> {
					if (outOfThreads[0]) {
						throw new OutOfMemoryError("unable to create native thread");
					}
					started.add(task);
				}));
		this.store.free();
		LockEngine engine = new LockEngine(() -> registry);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> engine.template().acquire(request()))
			.havingCause()
			.withMessageContaining("unable to create native thread");
		assertThat(this.store.looks).isEmpty();
		assertThat(registry.isEmpty()).isTrue();
		outOfThreads[0] = false;
		HeldLock lock = engine.template().acquire(request());
		assertThat(started).hasSize(1);
		lock.close();
		assertThat(registry.isEmpty()).isTrue();
	}

	/** Each answer to the first renewal that is none. */
	static List<Function<RenewRequest, RenewResult>> noAnswers() {
		return List.of((request) -> {
			throw new OutOfMemoryError();
		}, (request) -> {
			throw new IllegalArgumentException();
		}, (request) -> RenewResult.UNKNOWN);
	}

	@ParameterizedTest
	@MethodSource("noAnswers")
	void renewalThatFailsInAnyWayIsTriedAgain(Function<RenewRequest, RenewResult> noAnswer) {
		HeldLock lock = held(request(), 1);
		this.store.onRenew = noAnswer;
		pass(Duration.ofSeconds(11));
		assertThat(this.store.renewed).hasSize(1);
		this.store.onRenew = (request) -> RenewResult.RENEWED;
		pass(Duration.ofSeconds(4));
		assertThat(this.store.renewed).hasSize(2);
		advance(Duration.ofSeconds(20));
		assertThat(lock.isHeld()).isTrue();
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

	@Test
	void renewalThatGetsNoThreadIsTriedAgain() {
		this.store.traits = StoreTraits.exact().withBlocking(true);
		HeldLock lock = held(request(), 1);
		this.background = (task) -> {
			throw new OutOfMemoryError("unable to create native thread");
		};
		pass(Duration.ofSeconds(11));
		assertThat(this.store.renewed).isEmpty();
		this.background = Runnable::run;
		pass(Duration.ofSeconds(4));
		assertThat(this.store.renewed).isNotEmpty();
		assertThat(lock.isHeld()).isTrue();
	}

	@Test
	void releaseWithoutAResultIsNotTakenForOne() {
		HeldLock lock = held(request(), 1);
		this.store.onRelease = (request) -> null;
		lock.close();
		assertReleasedAgain();
	}

	private void assertReleasedAgain() {
		assertThat(this.store.released).hasSize(1);
		this.store.onRelease = (request) -> new ReleaseResult.Released();
		advance(Duration.ofMillis(500));
		assertThat(this.store.released).hasSize(2);
		assertNothingLeft();
	}

	@Test
	void acquisitionWithoutAResultOrWithAnErrorIsUnavailable() {
		this.store.onAcquire = (request) -> null;
		assertUnavailable();
		this.store.onAcquire = (request) -> {
			throw new StackOverflowError();
		};
		assertUnavailable();
		assertThat(this.store.released).hasSize(2);
	}

	private void assertUnavailable() {
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.engine.template().acquire(request().waitTime(Duration.ZERO)));
		assertNothingLeft();
	}

	@Test
	void releaseThatFailsWithAnErrorIsRepeated() {
		Waiting waiting = waiting(request().waitTime(Duration.ofMillis(100)), 100);
		this.store.onRelease = (request) -> {
			throw new NoClassDefFoundError("gone");
		};
		advance(Duration.ofMillis(100));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(waiting.running()::get);
		assertReleasedAgain();
	}

	@Test
	void lockOfAnotherLengthThatTakesOverAnOwnershipRequestsItsOwnLength() {
		Waiting first = waiting(request().waitTime(Duration.ofMillis(500)), 100);
		Running<HeldLock> second = waitingBehind(LockRequest.of(KEY).ttl(Duration.ofSeconds(3)).waitTime(TTL));
		advance(Duration.ofMillis(500));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(first.running()::get);
		advance(Duration.ofMillis(500));
		ScriptedStore.Asked attempt = this.store.nextLook();
		assertThat(attempt.request().ttl()).isEqualTo(Duration.ofSeconds(3));
		attempt.answer().complete(new AcquireResult.Acquired(101));
		assertThat(second.get().remaining()).isLessThan(Duration.ofSeconds(3));
	}

	@Test
	void f22ReleaseIsNotHeldUpByAnEarlierOneOnceTheServerHasAnswered() {
		HeldLock first = held(request(), 1);
		this.store.onRelease = (request) -> {
			this.time.advance(EngineSettings.defaults().commandTimeout());
			throw new LockUnavailableException("no answer");
		};
		first.close();
		this.store.onRelease = (request) -> new ReleaseResult.Released();
		held(LockRequest.of("order:43").ttl(TTL).renew(false), 2).close();
		assertThat(this.store.released).extracting(ReleaseRequest::key).containsExactly(KEY, "order:43");
		advance(Duration.ofMillis(500));
		assertThat(this.store.released).extracting(ReleaseRequest::key).containsExactly(KEY, "order:43", KEY);
		assertNothingLeft();
	}

}
