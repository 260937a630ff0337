package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The application stops: first nobody waits, then work may end, then what is held is
 * given back.
 */
class ShutdownTests extends EngineFixture {

	private static final Duration TIMEOUT = EngineSettings.defaults().shutdownTimeout();

	private Running<Boolean> stopping() {
		Running<Boolean> stopping = start(() -> {
			this.engine.stop();
			return true;
		});
		this.time.awaitParked(stopping.thread());
		return stopping;
	}

	/** Lets the time for work pass, and as much more as the stop needs. */
	private void stopped(Running<Boolean> stopping) {
		advance(TIMEOUT);
		finished(stopping);
	}

	private void finished(Running<Boolean> stopping) {
		await().pollInterval(Duration.ofMillis(1)).until(() -> {
			runBackground();
			advance(Duration.ofMillis(1));
			return stopping.result().isDone();
		});
		assertThat(stopping.get()).isTrue();
	}

	@Test
	void f26WaitersAreNotifiedAtOnce() {
		Waiting first = waiting(request(), 100);
		Running<HeldLock> second = waitingBehind(request());
		this.engine.stopWaiting();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(first.running()::get)
			.withMessageContaining("stopping");
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(second::get);
		runBackground();
		assertThat(this.store.releasedTokens()).containsExactly(first.attempt().token());
		assertNothingLeft();
	}

	@Test
	void f26FreeLocksAreStillGrantedWhileWorkEnds() {
		this.engine.stopWaiting();
		Running<HeldLock> free = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		assertThat(look.request().queue()).isFalse();
		look.acquired(1);
		free.get().close();
		assertNothingLeft();
	}

	@Test
	void f26BusyLocksAreNotWaitedForWhileWorkEnds() {
		this.engine.stopWaiting();
		Running<HeldLock> busy = acquire(request());
		this.store.nextLook().busy(TTL, 100);
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(busy::get)
			.withMessageContaining("stopping");
		assertNothingLeft();
	}

	@Test
	void f26LocksHeldInThisInstanceAreNotWaitedForWhileWorkEnds() {
		HeldLock lock = held(request(), 1);
		this.engine.stopWaiting();
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.template().acquire(request()));
		lock.close();
	}

	@Test
	void f26WorkMayEnd() {
		HeldLock lock = held(request(), 1);
		Running<Boolean> stopping = stopping();
		for (int i = 0; i < 5; i++) {
			pass(Duration.ofSeconds(1));
			this.time.awaitParked(stopping.thread());
		}
		assertThat(lock.isHeld()).isTrue();
		lock.close();
		finished(stopping);
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertNothingLeft();
	}

	@Test
	void f26WhatIsStillHeldIsReleasedAndCountsAsLost() {
		HeldLock lock = held(request(), 7);
		Running<Boolean> stopping = stopping();
		stopped(stopping);
		assertThat(this.store.released).hasSize(1);
		assertThat(lock.isHeld()).isFalse();
		assertThat(events(LockEvent.Lost.class)).singleElement()
			.satisfies((event) -> assertThat(event.reason()).contains("stopped"));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close).withMessageContaining("stopped");
		assertNothingLeft();
	}

	@Test
	void f26LastTokenIsReportedWhenWhatIsHeldIsReleased() {
		HeldLock first = held(request(), 7);
		Running<HeldLock> second = waitingBehind(request());
		first.close();
		second.get();
		Running<Boolean> stopping = stopping();
		stopped(stopping);
		assertThat(this.store.released.get(0).lastFencingToken()).isEqualTo(8);
	}

	@Test
	void f26ReleasesWithoutReplyDelayTheStopByOneCommandTimeout() {
		this.store.free();
		for (int i = 0; i < 50; i++) {
			this.engine.template().acquire(LockRequest.of("order:" + i));
		}
		this.store.onReleaseAsync = (request) -> new CompletableFuture<>();
		Running<Boolean> stopping = stopping();
		advance(TIMEOUT);
		long begin = this.time.nanoTime();
		finished(stopping);
		assertThat(this.store.released).extracting(ReleaseRequest::key).doesNotHaveDuplicates().hasSize(50);
		assertThat(Duration.ofNanos(this.time.nanoTime() - begin)).isBetween(Duration.ofSeconds(1),
				Duration.ofMillis(1100));
	}

	@Test
	void f26ReleaseThatFailsKeepsNoOtherFromBeingSentAndIsRepeated() {
		this.store.free();
		for (int i = 0; i < 3; i++) {
			this.engine.template().acquire(LockRequest.of("order:" + i));
		}
		Set<String> failed = new HashSet<>();
		this.store.onRelease = (request) -> {
			if (!request.key().equals("order:2") && failed.add(request.key())) {
				if (request.key().equals("order:0")) {
					throw new LockUnavailableException("refused");
				}
				throw new StackOverflowError();
			}
			return new ReleaseResult.Released();
		};
		Running<Boolean> stopping = stopping();
		stopped(stopping);
		assertThat(this.store.released).extracting(ReleaseRequest::key)
			.hasSize(5)
			.contains("order:0", "order:1", "order:2");
		assertNothingLeft();
	}

	@Test
	void afterTheStopNoLockIsTaken() {
		this.engine.stop();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.engine.template().acquire(request()))
			.withMessageContaining("stopped");
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.engine.template().execute(request(), (lock) -> "ran"));
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.engine.template().asLock(KEY).lock());
		assertThat(this.store.looks).isEmpty();
	}

	@Test
	void secondStopDoesNothing() {
		held(request(), 1);
		Running<Boolean> stopping = stopping();
		stopped(stopping);
		this.engine.stop();
		this.engine.close();
		assertThat(this.store.released).hasSize(1);
	}

	@Test
	void stopIsUndoneByAStart() {
		this.engine.stop();
		this.engine.start();
		HeldLock lock = held(request(), 1);
		Running<HeldLock> second = waitingBehind(request());
		lock.close();
		second.get().close();
		assertNothingLeft();
	}

	@Test
	@Tag("cloned-processes")
	void eachStartIsAnInstanceOfItsOwnSinceOneImageMayBeRestoredTwice() {
		held(request(), 1).close();
		this.engine.stop();
		String stopped = this.store.looks.get(0).token().instance();
		this.engine.start();
		assertThat(this.store.inboxes).containsExactly(stopped);
		held(request(), 2).close();
		String restored = this.store.looks.get(1).token().instance();
		assertThat(restored).isNotEqualTo(stopped);
		assertThat(this.store.inboxes).containsExactly(stopped, restored);
	}

	@Test
	@Tag("cloned-processes")
	void attemptThatWasUnderWayAtTheStopHoldsNothingAfterTheStart() {
		Running<HeldLock> running = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		Running<Boolean> stopping = stopping();
		stopped(stopping);
		this.engine.start();
		look.fails();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get);
		runBackground();
		assertThat(this.store.looks).hasSize(1);
		assertThat(this.store.releasedTokens()).containsExactly(look.token());
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void attemptThatWasUnderWayAtTheStopDoesNotOpenTheInboxAgain(boolean fails) {
		this.store.inboxConfirmed = false;
		Running<HeldLock> running = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		Running<Boolean> stopping = stopping();
		stopped(stopping);
		int opened = this.store.inboxOpened;
		if (fails) {
			look.fails();
		}
		else {
			look.busy(TTL, 100);
		}
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get);
		assertThat(this.store.inboxOpened).isEqualTo(opened);
	}

	@Test
	void startWithoutAStopLosesNothing() {
		HeldLock lock = held(request(), 1);
		this.engine.start();
		assertThat(lock.isHeld()).isTrue();
		Running<HeldLock> second = waitingBehind(request());
		lock.close();
		second.get().close();
		assertNothingLeft();
	}

	@Test
	void interruptedStopDoesNotWaitForWorkButReleases() {
		HeldLock lock = held(request(), 1);
		Thread.currentThread().interrupt();
		this.engine.stop();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.store.released).hasSize(1);
		assertThat(lock.isHeld()).isFalse();
	}

	@Test
	void workThatHoldsItsLockMayEnterItAgainWhileTheApplicationStops() {
		this.store.free();
		this.engine.template().executeWithoutResult(request(), (outer) -> {
			this.engine.stopWaiting();
			this.engine.template().executeWithoutResult(request(), (inner) -> assertThat(inner.isHeld()).isTrue());
		});
	}

	@Test
	void f26StopEndsTheWaitsAndClosesTheInbox() {
		Waiting waiting = waiting(request(), 100);
		Running<Boolean> stopping = start(() -> {
			this.engine.close();
			return true;
		});
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(waiting.running()::get)
			.withMessageContaining("stopping");
		finished(stopping);
		assertThat(this.store.inboxClosed).isEqualTo(1);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.engine.template().acquire(request()))
			.withMessageContaining("stopped");
	}

	@Test
	void inboxThatIsOpenedWhileTheEngineStopsIsClosed() {
		this.store.inboxConfirmed = false;
		this.store.onOpenInbox = this.registry::stop;
		Running<HeldLock> running = acquire(request());
		this.store.nextLook().busy(TTL, 100);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get);
		assertThat(this.store.inboxOpened).isEqualTo(1);
		assertThat(this.store.inboxClosed).isEqualTo(1);
	}

	@Test
	void startLetsCallersWaitAgain() {
		HeldLock lock = held(request(), 1);
		this.engine.stopWaiting();
		this.engine.start();
		Running<HeldLock> next = waitingBehind(request());
		lock.close();
		next.get().close();
		assertNothingLeft();
	}

}
