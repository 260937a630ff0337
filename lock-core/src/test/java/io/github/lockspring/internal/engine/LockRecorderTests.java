package io.github.lockspring.internal.engine;

import java.lang.reflect.Proxy;
import java.time.Duration;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What an engine records, in numbers.
 */
class LockRecorderTests extends EngineFixture {

	@Override
	LockRequest request() {
		return Requests.labelled(super.request(), "order");
	}

	private void assertNothingHeldOrWaitedFor() {
		assertThat(this.recorder.held()).as("held").isZero();
		assertThat(this.recorder.waiting()).as("waiting").isZero();
	}

	@Test
	void freeLockIsAcquiredHeldAndReleased() {
		HeldLock lock = held(request(), 1);
		assertThat(this.recorder.held()).isOne();
		advance(Duration.ofMillis(70));
		lock.close();
		assertThat(this.recorder.lines()).containsExactly("held order", "requested order ACQUIRED 0ms",
				"ended order 70ms");
		assertThat(this.recorder.commands()).containsExactly("command ACQUIRE '' answered 0ms",
				"command RELEASE '' answered 0ms");
		assertNothingHeldOrWaitedFor();
	}

	@Test
	void requestWithoutNameHasNone() {
		held(LockRequest.of(KEY), 1).close();
		assertThat(this.recorder.lines()).containsExactly("held null", "requested null ACQUIRED 0ms", "ended null 0ms");
	}

	@Test
	void reentryIsNeitherRequestNorHold() {
		this.store.free();
		this.template.executeWithoutResult(request(),
				(outer) -> this.template.executeWithoutResult(request(), (inner) -> {
				}));
		assertThat(this.recorder.lines()).hasSize(3);
	}

	@Test
	void lockIsAcquiredAndReleasedAlsoWhenNothingCanBeRecorded() {
		LockRecorder failing = (LockRecorder) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { LockRecorder.class }, (proxy, method, arguments) -> {
					throw new IllegalStateException(method.getName());
				});
		this.store.free();
		try (LockEngine engine = new LockEngine(this.store, settings(), LockEvents.NOBODY, UnitOfWork.NONE, failing,
				null)) {
			HeldLock lock = engine.template().acquire(request());
			((KeyedLock) lock).verify();
			lock.close();
			assertThat(engine.registry().isEmpty()).isTrue();
		}
		assertThat(this.store.released).hasSize(1);
	}

	@Test
	void callerThatFindsTheLockBusyWaitsUntilItGivesUp() {
		Waiting waiting = waiting(request().waitTime(Duration.ofMillis(500)), 1);
		assertThat(this.recorder.waiting()).isOne();
		advance(Duration.ofMillis(600));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(waiting::get);
		assertThat(this.recorder.lines()).containsExactly("requested order BUSY 600ms");
		assertNothingHeldOrWaitedFor();
	}

	@Test
	void interruptEndsTheRequest() {
		Waiting waiting = waiting(request(), 1);
		waiting.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(waiting::get);
		assertThat(this.recorder.lines()).containsExactly("requested order INTERRUPTED 0ms");
		assertNothingHeldOrWaitedFor();
	}

	@Test
	void failureOfTheStoreIsRecorded() {
		Waiting asking = asking(request().waitTime(Duration.ZERO));
		asking.attempt().fails();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(asking::get);
		assertThat(this.recorder.lines()).containsExactly("requested order UNAVAILABLE 0ms");
		assertThat(this.recorder.commands()).startsWith("command ACQUIRE '' failed 0ms");
	}

	@Test
	void lockOfAnotherInstanceArrivesByMessage() {
		grant(waiting(request(), 1), 7).close();
		assertThat(this.recorder.lines()).containsExactly("held order REMOTE", "requested order ACQUIRED 0ms",
				"ended order 0ms");
		assertNothingHeldOrWaitedFor();
	}

	@Test
	void lockThatAnAttemptWithoutAnAnswerTookIsNotHandedOver() {
		Waiting asking = asking(request());
		asking.attempt().fails();
		this.time.awaitParked(asking.thread());
		advance(Duration.ofSeconds(2));
		this.store.nextLook().acquired(7);
		asking.get();
		assertThat(this.recorder.lines()).startsWith("held order");
	}

	@Test
	void nextCallerOfThisInstanceGetsTheLockByALocalHandOff() {
		HeldLock first = held(request(), 1);
		Running<HeldLock> second = waitingBehind(request());
		assertThat(this.recorder.waiting()).isOne();
		first.close();
		second.get().close();
		assertThat(this.recorder.lines()).contains("held order", "held order LOCAL").hasSize(6);
		assertNothingHeldOrWaitedFor();
	}

	@Test
	void renewalIsOnTimeOrLate() {
		held(request(), 1);
		pass(Duration.ofSeconds(11));
		assertThat(this.recorder.lines()).endsWith("renewed order RENEWED");
		this.store.onRenew = (request) -> {
			this.time.advance(Duration.ofSeconds(10));
			return RenewResult.RENEWED;
		};
		pass(Duration.ofSeconds(11));
		assertThat(this.recorder.lines()).endsWith("renewed order LATE");
	}

	@Test
	void renewalWithoutAnAnswerHasFailed() {
		held(request(), 1);
		this.store.failRenewals();
		pass(Duration.ofSeconds(11));
		assertThat(this.recorder.lines()).endsWith("renewed order FAILED");
		assertThat(this.recorder.commands()).endsWith("command RENEW '' failed 0ms");
	}

	@Test
	void refusedRenewalLosesTheLock() {
		held(request(), 1);
		this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
		pass(Duration.ofSeconds(11));
		assertThat(this.recorder.lines()).containsSubsequence("renewed order REFUSED", "ended order 11000ms",
				"lost order NOT_OWNER");
		assertNothingHeldOrWaitedFor();
	}

	@Test
	void lossThatIsFoundAtTheReleaseEndsOneHold() {
		HeldLock lock = held(request(), 1);
		this.store.onRelease = (request) -> new ReleaseResult.NotOwner(5);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
		assertThat(this.recorder.lines()).endsWith("ended order 0ms", "lost order FOUND_AT_RELEASE");
		assertNothingHeldOrWaitedFor();
	}

}
