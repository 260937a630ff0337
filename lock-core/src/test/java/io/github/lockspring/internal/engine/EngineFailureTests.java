package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Function;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.Monitor;
import io.github.lockspring.internal.engine.support.StoreDispatcher;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;
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
	void callerThatDiesOfAnErrorLeavesItsOwnershipToTheNext() {
		Running<HeldLock> first = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		Running<HeldLock> second = waitingBehind(request());
		look.answer().completeExceptionally(new StackOverflowError());
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(first::get)
			.withRootCauseInstanceOf(StackOverflowError.class);
		ScriptedStore.Asked next = this.store.nextLook();
		assertThat(next.token()).isEqualTo(look.token());
		next.acquired(1);
		second.get().close();
		assertNothingLeft();
	}

	@Test
	void callerThatDiesOfAnErrorAloneLeavesNothing() {
		this.store.onAcquire = (request) -> {
			throw new StackOverflowError();
		};
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> this.engine.template().acquire(request()));
		assertNothingLeft();
		assertThat(this.store.released).hasSize(1);
	}

	@Test
	void callerThatFindsALeaseThatIsOverIsKnownToTheTable() {
		held(request(), 1);
		advance(TTL);
		Running<HeldLock> second = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		List<KeyLock> entries = new ArrayList<>();
		this.registry.locks().forEach(entries::add);
		assertThat(entries).hasSize(1);
		look.acquired(2);
		second.get().close();
		assertNothingLeft();
	}

	@Test
	void failedAttemptBeforeAHandOverDoesNotEndTheWaitOfThoseBehind() {
		Waiting first = waiting(request(), 100);
		advance(Duration.ofSeconds(1));
		ScriptedStore.Asked failing = this.store.nextLook();
		this.store.messages().granted(KEY, failing.token(), 101, false);
		failing.fails();
		HeldLock lock = first.running().get();
		Running<Boolean> second = start(() -> {
			this.engine.template().asLock(KEY).lock();
			return true;
		});
		this.time.awaitParked(second.thread());
		for (int i = 0; i < 20; i++) {
			pass(Duration.ofSeconds(1));
			wakeWaiters();
			this.time.awaitParked(second.thread());
		}
		lock.close();
		assertThat(second.get()).isTrue();
	}

	@Test
	void failureThatNoWaitMendsEndsTheWaitsOfAllAtOnce() {
		Running<HeldLock> first = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		List<Running<HeldLock>> all = List.of(first, waitingBehind(request()), waitingBehind(request()));
		look.answer().completeExceptionally(new LockUnavailableException("wrong password", null, true));
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
	void failureThatAWaitMayMendDoesNotEndIt() {
		Running<HeldLock> running = acquire(request());
		this.store.nextLook().fails();
		this.time.awaitParked(running.thread());
		advance(Duration.ofSeconds(1));
		this.store.nextLook().acquired(1);
		running.get().close();
		assertNothingLeft();
	}

	@Test
	void singleAttemptThatWasInterruptedAndRepeatedWithdrawsItsFirstRequest() {
		Running<Boolean> running = start(() -> this.engine.template().asLock(KEY).tryLock());
		ScriptedStore.Asked first = this.store.nextLook();
		running.thread().interrupt();
		ScriptedStore.Asked second = this.store.nextLook();
		assertThat(second.token()).isEqualTo(first.token());
		second.busy(TTL, 100);
		assertThat(running.get()).isFalse();
		runBackground();
		assertThat(this.store.releasedTokens()).containsExactly(first.token());
		assertNothingLeft();
	}

	@Test
	void grantToACallerWhoseEngineHasStoppedIsReleased() {
		Running<HeldLock> running = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		Running<Boolean> stopping = start(() -> {
			this.engine.stop();
			return true;
		});
		this.time.awaitParked(stopping.thread());
		advance(Duration.ofSeconds(11));
		stopping.get();
		look.acquired(1);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get)
			.withMessageContaining("stopped");
		runBackground();
		assertThat(this.store.releasedTokens()).containsExactly(look.token());
		assertNothingLeft();
	}

	@Test
	void lockThatTheWatchdogCannotWatchIsNotAcquired() {
		List<Runnable> started = new ArrayList<>();
		boolean[] outOfThreads = { true };
		KeyLockRegistry registry = new KeyLockRegistry(this.store, settings(), LockEvents.NOBODY, LockRecorder.NONE,
				this.time, Runnable::run, Runnable::run, (task) -> {
					if (outOfThreads[0]) {
						throw new OutOfMemoryError("unable to create native thread");
					}
					started.add(task);
				});
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
	static List<Function<RenewRequest, @Nullable RenewResult>> noAnswers() {
		return List.of((request) -> {
			throw new OutOfMemoryError();
		}, (request) -> {
			throw new IllegalArgumentException();
		}, (request) -> null, (request) -> RenewResult.UNKNOWN);
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
	void renewalThatIsLostOnItsWayIsTriedAgain() {
		HeldLock lock = held(request(), 1);
		this.background = (task) -> {
		};
		pass(Duration.ofSeconds(11));
		assertThat(this.store.renewed).isEmpty();
		this.background = Runnable::run;
		// what is under way for so long is repeated, by the thread that works now
		org.springframework.test.util.ReflectionTestUtils.setField(this.registry.dispatcher(), "queues",
				new java.util.HashMap<>());
		pass(Duration.ofSeconds(11));
		assertThat(this.store.renewed).hasSize(1);
		advance(Duration.ofSeconds(20));
		assertThat(lock.isHeld()).isTrue();
	}

	@Test
	void leaseThatTheWatchdogFailsToLookAtIsLookedAtAgain() {
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
	void releaseThatGetsNoThreadKeepsNoWaiterOfItsKeyWaiting() {
		HeldLock lock = held(request(), 1);
		Running<HeldLock> second = waitingBehind(request());
		advance(Duration.ofSeconds(20));
		this.store.onRenew = (request) -> {
			throw new LockUnavailableException("no answer");
		};
		this.background = (task) -> {
			throw new OutOfMemoryError("unable to create native thread");
		};
		// the renewal before the hand-off fails, and so does the release that follows
		lock.close();
		this.store.nextLook().acquired(2);
		assertThat(second.get().isHeld()).isTrue();
	}

	@Test
	void queueThatHasBeenReplacedDoesNotTakeItsSuccessorAway() {
		Queue<Runnable> threads = new ArrayDeque<>();
		StoreDispatcher dispatcher = new StoreDispatcher(this.registry.client(), 10, this.time, threads::add,
				Runnable::run);
		dispatcher.release(new ReleaseRequest(KEY, new OwnerToken("i".repeat(22), 1, 5000)), null);
		Runnable first = threads.remove();
		first.run();
		dispatcher.release(new ReleaseRequest(KEY, new OwnerToken("i".repeat(22), 2, 5000)), null);
		// a request to the first queue that its last thread has carried out starts
		// another
		first.run();
		assertThat(dispatcher.isIdle()).isFalse();
		threads.remove().run();
		assertThat(dispatcher.isIdle()).isTrue();
	}

	@Test
	void effectOfATransitionThatFailsKeepsNoOtherFromRunning() {
		List<String> ran = new ArrayList<>();
		Monitor monitor = new Monitor();
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> {
			try (Monitor entered = monitor.enter()) {
				entered.afterwards(() -> {
					throw new IllegalStateException();
				});
				entered.afterwards(() -> ran.add("woken"));
			}
		});
		assertThat(ran).containsExactly("woken");
	}

	@Test
	void releaseWithoutAResultIsNotTakenForOne() {
		HeldLock lock = held(request(), 1);
		this.store.onRelease = (request) -> null;
		lock.close();
		assertNothingLeft();
	}

	@Test
	void acquisitionWithoutAResultIsUnavailable() {
		this.store.onAcquire = (request) -> null;
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.engine.template().acquire(request().waitTime(Duration.ZERO)));
		assertNothingLeft();
	}

	@Test
	void backgroundReleaseThatFailsWithAnErrorIsForgotten() {
		Waiting waiting = waiting(request().waitTime(Duration.ofMillis(100)), 100);
		this.store.onRelease = (request) -> {
			throw new NoClassDefFoundError("gone");
		};
		advance(Duration.ofMillis(100));
		assertThatExceptionOfType(io.github.lockspring.LockNotAcquiredException.class)
			.isThrownBy(waiting.running()::get);
		assertNothingLeft();
	}

	@Test
	void silenceOfTheStoreDropsBackgroundReleasesInsteadOfWaitingForEach() {
		for (int i = 0; i < 5; i++) {
			String key = "order:" + i;
			Running<HeldLock> running = acquire(
					io.github.lockspring.LockRequest.of(key).waitTime(Duration.ofMillis(100)));
			this.store.nextLook().busy(TTL, 100);
			this.time.awaitParked(running.thread());
			advance(Duration.ofMillis(100));
			assertThatExceptionOfType(io.github.lockspring.LockNotAcquiredException.class).isThrownBy(running::get);
		}
		this.store.onRelease = (request) -> {
			throw new LockUnavailableException("no answer");
		};
		assertNothingLeft();
		assertThat(this.store.released).hasSize(1);
	}

	@Test
	void lockOfAnotherLengthThatTakesOverAnOwnershipRequestsItsOwnLength() {
		Waiting first = waiting(request().waitTime(Duration.ofMillis(500)), 100);
		Running<HeldLock> second = waitingBehind(
				io.github.lockspring.LockRequest.of(KEY).ttl(Duration.ofSeconds(3)).waitTime(TTL));
		advance(Duration.ofMillis(500));
		assertThatExceptionOfType(io.github.lockspring.LockNotAcquiredException.class).isThrownBy(first.running()::get);
		advance(Duration.ofMillis(500));
		ScriptedStore.Asked look = this.store.nextLook();
		assertThat(look.request().ttl()).isEqualTo(Duration.ofSeconds(3));
		look.answer().complete(new AcquireResult.Acquired(101));
		assertThat(second.get().remaining()).isLessThan(Duration.ofSeconds(3));
	}

	@Test
	void f22ReleaseIsNotHeldUpByAnEarlierOneOnceTheServerHasAnswered() {
		HeldLock first = held(request(), 1);
		this.store.onRelease = (request) -> {
			advance(EngineSettings.defaults().commandTimeout());
			throw new LockUnavailableException("no answer");
		};
		first.close();
		this.store.onRelease = (request) -> new ReleaseResult.Released();
		HeldLock second = held(LockRequest.of("order:43").ttl(TTL).renew(false), 2);
		second.close();
		assertThat(this.store.released).extracting(ReleaseRequest::key).containsExactly(KEY, "order:43");
		runBackground();
		assertThat(this.store.released).extracting(ReleaseRequest::key).containsExactly(KEY, "order:43", KEY);
	}

}
