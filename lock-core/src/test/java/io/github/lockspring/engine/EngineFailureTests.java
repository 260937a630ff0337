package io.github.lockspring.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireResult;
import org.junit.jupiter.api.Test;

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
			this.registry.lock(KEY).wakeAll();
			this.time.awaitParked(second.thread());
		}
		lock.close();
		assertThat(second.get()).isTrue();
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
	void watchdogThatCouldNotBeStartedIsStartedByTheNextLock() {
		List<Runnable> started = new ArrayList<>();
		boolean[] outOfThreads = { true };
		KeyLockRegistry registry = new KeyLockRegistry(this.store, settings(), List.of(), this.time, Runnable::run,
				Runnable::run, (task) -> {
					if (outOfThreads[0]) {
						throw new OutOfMemoryError("unable to create native thread");
					}
					started.add(task);
				});
		this.store.free();
		LockEngine engine = new LockEngine(() -> registry);
		HeldLock first = engine.template().acquire(request());
		assertThat(first.isHeld()).isTrue();
		outOfThreads[0] = false;
		HeldLock second = engine.template().acquire(io.github.lockspring.LockRequest.of("b"));
		assertThat(started).hasSize(1);
		first.close();
		second.close();
		assertThat(registry.isEmpty()).isTrue();
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

}
