package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The application stops: first nobody waits, then work may end, then what is held is
 * given back.
 */
class ShutdownTests extends EngineFixture {

	private static final Duration TIMEOUT = EngineSettings.defaults().shutdownTimeout();

	/** Lets the time for work pass, and as much more as the stop needs. */
	private void stop() {
		Running<Boolean> stopping = stopping();
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
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(first::get)
			.withMessageContaining("stopping");
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(second::get);
		assertThat(this.store.releasedTokens()).containsExactly(first.token());
		assertNothingLeft();
	}

	@Test
	void f26FreeLocksAreStillGrantedWhileWorkEnds() {
		this.engine.stopWaiting();
		Waiting free = asking(request());
		assertThat(free.attempt().request().queue()).isFalse();
		free.attempt().acquired(1);
		free.get().close();
		assertNothingLeft();
	}

	@Test
	void f26BusyLocksAreNotWaitedForWhileWorkEnds() {
		this.engine.stopWaiting();
		Waiting busy = asking(request());
		busy.attempt().busy(TTL, 100);
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(busy::get)
			.withMessageContaining("stopping");
		assertNothingLeft();
	}

	@Test
	void f26LocksHeldInThisInstanceAreNotWaitedForWhileWorkEnds() {
		held(request(), 1);
		this.engine.stopWaiting();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.template.acquire(request()));
	}

	@Test
	void f26WorkMayEnd() {
		HeldLock lock = held(request(), 1);
		Running<Boolean> stopping = stopping();
		passHeld(lock, 5);
		assertThat(stopping.result()).isNotDone();
		lock.close();
		finished(stopping);
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertNothingLeft();
	}

	@Test
	void f26WhatIsStillHeldIsReleasedAndCountsAsLost() {
		HeldLock lock = held(request(), 7);
		stop();
		assertThat(this.store.released).hasSize(1);
		assertThat(lock.isHeld()).isFalse();
		assertThat(events(LockEvent.Lost.class)).singleElement()
			.satisfies((event) -> assertThat(event.reason()).contains("stopped"));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close).withMessageContaining("stopped");
		assertNothingLeft();
	}

	@Test
	void f26ReleasesWithoutReplyDelayTheStopByOneCommandTimeout() {
		hold(50);
		this.store.holdReleases();
		Running<Boolean> stopping = stopping();
		advance(TIMEOUT);
		long begin = this.time.nanoTime();
		finished(stopping);
		assertThat(this.store.released).extracting(ReleaseRequest::key).doesNotHaveDuplicates().hasSize(50);
		assertThat(Duration.ofNanos(this.time.nanoTime() - begin)).isBetween(Duration.ofSeconds(1),
				Duration.ofMillis(1100));
	}

	private void hold(int locks) {
		this.store.free();
		for (int i = 0; i < locks; i++) {
			this.template.acquire(LockRequest.of("order:" + i));
		}
	}

	@Test
	void f26ReleaseThatFailsKeepsNoOtherFromBeingSentAndIsRepeated() {
		hold(3);
		Set<String> failed = ConcurrentHashMap.newKeySet();
		this.store.onRelease = (request) -> {
			if (request.key().equals("order:0") && failed.add("order:0")) {
				throw new LockUnavailableException("refused");
			}
			if (request.key().equals("order:1") && failed.add("order:1")) {
				throw new StackOverflowError();
			}
			return new ReleaseResult.Released();
		};
		stop();
		assertThat(this.store.released).extracting(ReleaseRequest::key)
			.containsExactlyInAnyOrder("order:0", "order:0", "order:1", "order:1", "order:2");
		assertNothingLeft();
	}

	// defect 25
	@Test
	void lockThatIsStillHeldIsReleasedBeforeItsMinHoldIsOver() {
		held(request().minHold(Duration.ofHours(1)), 7);
		stop();
		assertThat(this.store.released).singleElement()
			.satisfies((release) -> assertThat(release.keep()).isEqualTo(Duration.ZERO));
		assertNothingLeft();
	}

	// defect 16
	@Test
	void stopWaitsForTheAnswerOfAnAttemptThatMayBringALock() {
		Waiting asking = asking(request());
		Running<Boolean> stopping = stopping();
		// the watchdog does not end the attempt before the stop does
		this.time.advance(TIMEOUT);
		await().until(() -> this.store.released.size() == 1);
		this.time.awaitParked(stopping.thread());
		asking.attempt().acquired(1);
		assertThat(this.store.releasedTokens()).containsExactly(asking.token(), asking.token());
		finished(stopping);
		assertNothingLeft();
	}

	// defect 17
	@Test
	void releasesThatAreAnsweredSlowlyDoNotDelayTheStopWithoutEnd() {
		hold(50);
		Queue<CompletableFuture<ReleaseResult>> answers = this.store.holdReleases();
		Duration timeout = settings().commandTimeout();
		Running<Boolean> stopping = stopping();
		this.time.advance(TIMEOUT);
		await().until(() -> answers.size() == 50);
		for (int i = 0; i < 4 && !stopping.result().isDone(); i++) {
			this.time.awaitParked(stopping.thread());
			answers.remove().complete(new ReleaseResult.Released());
			this.time.advance(timeout.dividedBy(2));
		}
		this.time.advance(Duration.ofMillis(1));
		assertThat(stopping.get()).isTrue();
		assertThat(answers).hasSizeGreaterThan(40);
	}

	@Test
	void afterTheStopNoLockIsTaken() {
		this.engine.stop();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.template.acquire(request()))
			.withMessageContaining("stopped");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.template.asLock(KEY).lock());
		assertThat(this.store.looks).isEmpty();
	}

	@Test
	void secondStopDoesNothing() {
		held(request(), 1);
		stop();
		this.engine.stop();
		this.engine.close();
		assertThat(this.store.released).hasSize(1);
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
		Waiting asking = asking(request());
		Running<Boolean> stopping = stopping();
		// the watchdog does not end the attempt before the stop does
		this.time.advance(TIMEOUT);
		finished(stopping);
		this.engine.start();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(asking::get)
			.withMessageContaining("stopped");
		asking.attempt().acquired(1);
		assertThat(this.store.looks).hasSize(1);
		assertThat(this.store.releasedTokens()).containsExactly(asking.token(), asking.token());
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
		this.template.executeWithoutResult(request(), (outer) -> {
			this.engine.stopWaiting();
			this.template.executeWithoutResult(request(), (inner) -> assertThat(inner.isHeld()).isTrue());
		});
	}

	@Test
	void f26StopEndsTheWaitsAndClosesTheInbox() {
		Waiting waiting = waiting(request(), 100);
		this.engine.close();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(waiting::get)
			.withMessageContaining("stopping");
		assertThat(this.store.inboxClosed).isEqualTo(1);
	}

	@Test
	void inboxThatIsOpenedWhileTheEngineStopsIsClosed() {
		this.store.inboxConfirmed = false;
		this.store.onOpenInbox = this.registry::stop;
		Waiting asking = asking(request());
		asking.attempt().busy(TTL, 100);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(asking::get);
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
