package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.Queue;
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

	private final Queue<CompletableFuture<ReleaseResult>> sent = this.store.holdReleases();

	@BeforeEach
	void storeKeepsTheOrder() {
		this.store.traits = StoreTraits.exact().withOrdered(true);
	}

	@Override
	EngineSettings settings() {
		EngineSettings defaults = EngineSettings.defaults();
		return new EngineSettings(defaults.ttl(), defaults.waitTime(), defaults.maxHold(), defaults.commandTimeout(),
				defaults.shutdownTimeout(), true);
	}

	@Test
	void callerGoesOnAndTheNextOneAsksAfterIt() {
		held(request(), 1).close();
		assertThat(this.sent).hasSize(1);
		Waiting next = asking(request());
		assertThat(next.token()).isNotEqualTo(this.store.releasedTokens().get(0));
		next.attempt().acquired(2);
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
		this.sent.remove().complete(ReleaseResult.NotOwner.of(2, 1));
		assertThat(events(LockEvent.Lost.class)).singleElement()
			.satisfies((lost) -> assertThat(lost.fencingToken()).isEqualTo(1));
	}

	@Test
	@Tag("async-releases")
	void anotherOwnerFromTheDeadlineOnIsNeitherALossNorLogged(CapturedOutput output) {
		held(request(), 1).close();
		this.time.advance(TTL.minus(DRIFT));
		this.sent.remove().complete(ReleaseResult.NotOwner.of(2, 1));
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertThat(output).doesNotContain("was gone when it was released");
	}

	@Test
	void releaseThatFindsNoOtherTokenIsLoggedAndNoLoss(CapturedOutput output) {
		held(request(), 3).close();
		this.sent.remove().complete(ReleaseResult.NotOwner.of(3, 1));
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertThat(output).contains("was gone when it was released");
	}

	@Test
	@Tag("async-releases")
	void f07ReleaseThatFailsIsRepeated() {
		held(request(), 1).close();
		this.sent.remove().completeExceptionally(new LockUnavailableException("connection closed"));
		assertThat(this.store.released).hasSize(1);
		advance(Duration.ofMillis(500));
		assertThat(this.store.releasedTokens()).hasSize(2).containsOnly(token());
		assertThat(this.registry.isEmpty()).isFalse();
		this.sent.remove().complete(new ReleaseResult.Released());
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
		failToStartThreads();
		lock.close();
		assertThat(held(request(), 2).isHeld()).isTrue();
	}

	@Test
	void callersWaitWhenTooManyReleasesHaveNoResult() {
		this.store.free();
		for (int i = 0; i < 1_001; i++) {
			this.template.acquire(LockRequest.of("order:" + i)).close();
		}
		assertThat(this.sent).hasSize(1_001);
		this.store.onReleaseAsync = null;
		this.store.onRelease = (release) -> ReleaseResult.NotOwner.of(2_000, 1);
		HeldLock lock = this.template.acquire(request());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
		this.sent.forEach((result) -> result.complete(new ReleaseResult.Released()));
		this.template.acquire(request()).close();
	}

	@Test
	void f26StopEndsWithTheLastResult() {
		Running<Boolean> stopping = stoppingForAMillisecond();
		this.sent.remove().complete(new ReleaseResult.Released());
		this.time.unpark(stopping.thread());
		stopping.get();
	}

	/** A stop that waits for a release, and may do so for a millisecond. */
	private Running<Boolean> stoppingForAMillisecond() {
		held(request(), 1).close();
		Running<Boolean> stopping = stopping();
		this.time.advance(settings().commandTimeout().minusMillis(1));
		this.time.awaitParked(stopping.thread());
		assertThat(stopping.result()).isNotDone();
		return stopping;
	}

}
