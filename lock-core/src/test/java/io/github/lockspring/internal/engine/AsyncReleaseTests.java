package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.StoreTraits;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Releases whose result the caller does not wait for.
 */
@ExtendWith(OutputCaptureExtension.class)
class AsyncReleaseTests extends EngineFixture {

	private final List<CompletableFuture<ReleaseResult>> sent = new ArrayList<>();

	@BeforeEach
	void storeKeepsTheOrder() {
		this.store.traits = StoreTraits.exact().withOrdered(true);
		this.store.onReleaseAsync = (request) -> {
			CompletableFuture<ReleaseResult> result = new CompletableFuture<>();
			this.sent.add(result);
			return result;
		};
	}

	@Override
	EngineSettings settings() {
		return EngineSettings.defaults().withAsyncRelease(true);
	}

	@Test
	void callerGoesOnAndTheNextOneAsksAfterIt() {
		HeldLock lock = held(request(), 1);
		lock.close();
		assertThat(this.sent).hasSize(1);
		Running<HeldLock> next = acquire(request());
		ScriptedStore.Asked attempt = this.store.nextLook();
		assertThat(attempt.token()).isNotEqualTo(this.store.releasedTokens().get(0));
		attempt.acquired(2);
		next.get().close();
		this.sent.forEach((result) -> result.complete(new ReleaseResult.Released()));
		assertThat(events(LockEvent.Released.class)).hasSize(2);
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertNothingLeft();
	}

	@Test
	@Tag("async-releases")
	void lossThatOnlyTheReleaseFindsIsAnEvent() {
		held(request(), 1).close();
		this.sent.get(0).complete(ReleaseResult.NotOwner.of(2, 1));
		assertThat(events(LockEvent.Lost.class)).singleElement()
			.satisfies((lost) -> assertThat(lost.fencingToken()).isEqualTo(1));
	}

	@Test
	@Tag("async-releases")
	void anotherOwnerAfterTheDeadlineIsNoLoss() {
		held(request(), 1).close();
		this.time.advance(TTL);
		this.sent.get(0).complete(ReleaseResult.NotOwner.of(2, 1));
		assertThat(events(LockEvent.Lost.class)).isEmpty();
	}

	@Test
	@Tag("async-releases")
	void f07ReleaseThatFailsIsRepeated() {
		held(request(), 1).close();
		this.sent.get(0).completeExceptionally(new LockUnavailableException("connection closed"));
		assertThat(this.store.released).hasSize(1);
		advance(Duration.ofMillis(500));
		assertThat(this.store.releasedTokens()).hasSize(2).containsOnly(this.store.releasedTokens().get(0));
		assertThat(isAnythingKnown()).isTrue();
		this.sent.get(1).complete(new ReleaseResult.Released());
		assertNothingLeft();
	}

	@Test
	void storeThatBlocksReleasesInTheBackgroundAndTheNextCallerWaits() {
		storeBlocks();
		held(request(), 1).close();
		Running<HeldLock> next = waitingBehind(request());
		assertThat(this.store.released).isEmpty();
		assertThat(this.store.isAsked()).isFalse();
		runBackground();
		assertThat(this.store.released).hasSize(1);
		this.store.nextLook().acquired(2);
		next.get().close();
		assertNothingLeft();
	}

	private void storeBlocks() {
		this.store.traits = StoreTraits.exact().withBlocking(true);
		this.store.onReleaseAsync = null;
	}

	@Test
	void releaseThatGetsNoThreadKeepsNoWaiterOfItsKeyWaiting() {
		storeBlocks();
		HeldLock lock = held(request(), 1);
		this.background = (task) -> {
			throw new OutOfMemoryError("unable to create native thread");
		};
		lock.close();
		Running<HeldLock> next = acquire(request());
		this.store.nextLook().acquired(2);
		assertThat(next.get().isHeld()).isTrue();
	}

	@Test
	void releaseThatCannotBeSentAtAllIsRepeated() {
		this.store.onReleaseAsync = (request) -> {
			throw new NoClassDefFoundError("broken");
		};
		held(request(), 1).close();
		this.store.onReleaseAsync = null;
		advance(Duration.ofMillis(500));
		assertThat(this.store.released).hasSize(2);
		assertNothingLeft();
	}

	@Test
	void lossThatTheBackgroundFindsIsAnEventToo() {
		storeBlocks();
		this.store.onRelease = (release) -> ReleaseResult.NotOwner.of(2, 1);
		held(request(), 1).close();
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		runBackground();
		assertThat(events(LockEvent.Lost.class)).hasSize(1);
		assertNothingLeft();
	}

	@Test
	void callersWaitWhenTooManyReleasesHaveNoResult() {
		this.store.free();
		for (int i = 0; i < 1_001; i++) {
			this.engine.template().acquire(LockRequest.of("order:" + i)).close();
		}
		assertThat(this.sent).hasSize(1_001);
		this.store.onReleaseAsync = null;
		this.store.onRelease = (release) -> ReleaseResult.NotOwner.of(2_000, 1);
		HeldLock lock = this.engine.template().acquire(request());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
		this.sent.forEach((result) -> result.complete(new ReleaseResult.Released()));
		this.engine.template().acquire(request()).close();
	}

	@Test
	void minimumHoldIsKept() {
		held(request().minHold(Duration.ofSeconds(5)), 1).close();
		assertThat(this.store.released).singleElement()
			.satisfies((release) -> assertThat(release.keep()).isGreaterThan(Duration.ofSeconds(4)));
	}

	@Test
	void anotherOwnerAtTheDeadlineIsNoLossAndNoOtherTokenIsNone(CapturedOutput output) {
		held(request(), 1).close();
		this.time.advance(TTL.minus(DRIFT));
		this.sent.get(0).complete(ReleaseResult.NotOwner.of(2, 1));
		assertThat(output).doesNotContain("was gone when it was released");
		held(request(), 3).close();
		this.sent.get(1).complete(ReleaseResult.NotOwner.of(3, 1));
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertThat(output).contains("was gone when it was released");
	}

	@Test
	void f26StopWaitsForReleasesWithoutAResultForACommandTimeout() {
		held(request(), 1).close();
		Running<Boolean> stopping = stopping();
		assertThat(stopping.result()).isNotDone();
		// it looks every 5 ms
		this.time.advance(Duration.ofMillis(5));
		stopping.get();
	}

	@Test
	void f26StopEndsWithTheLastResult() {
		held(request(), 1).close();
		Running<Boolean> stopping = stopping();
		this.sent.get(0).complete(new ReleaseResult.Released());
		this.time.unpark(stopping.thread());
		stopping.get();
	}

	/** A stop that has still to wait for a millisecond. */
	private Running<Boolean> stopping() {
		Running<Boolean> stopping = start(() -> {
			this.engine.stop();
			return true;
		});
		this.time.awaitParked(stopping.thread());
		this.time.advance(settings().commandTimeout().minusMillis(1));
		this.time.awaitParked(stopping.thread());
		return stopping;
	}

}
