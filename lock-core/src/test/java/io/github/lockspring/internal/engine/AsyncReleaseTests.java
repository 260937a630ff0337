package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.ReleaseResult;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Releases whose result the caller does not wait for.
 */
@ExtendWith(OutputCaptureExtension.class)
class AsyncReleaseTests extends EngineFixture {

	private final List<CompletableFuture<ReleaseResult>> sent = new ArrayList<>();

	@BeforeEach
	void storeKeepsTheOrder() {
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
		ScriptedStore.Asked look = this.store.nextLook();
		assertThat(look.token()).isNotEqualTo(this.store.releasedTokens().get(0));
		look.acquired(2);
		next.get().close();
		this.sent.forEach((result) -> result.complete(new ReleaseResult.Released()));
		assertThat(events(LockEvent.Released.class)).hasSize(2);
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertNothingLeft();
	}

	@Test
	void lossThatOnlyTheReleaseFindsIsAnEvent() {
		held(request(), 1).close();
		this.sent.get(0).complete(ReleaseResult.NotOwner.of(2, 1));
		assertThat(events(LockEvent.Lost.class)).singleElement()
			.satisfies((lost) -> assertThat(lost.fencingToken()).isEqualTo(1));
	}

	@Test
	void anotherOwnerAfterTheDeadlineIsNoLoss() {
		held(request(), 1).close();
		advance(TTL);
		this.sent.get(0).complete(ReleaseResult.NotOwner.of(2, 1));
		assertThat(events(LockEvent.Lost.class)).isEmpty();
	}

	@Test
	void f07ReleaseThatFailsIsRepeated() {
		held(request(), 1).close();
		this.sent.get(0).completeExceptionally(new LockUnavailableException("connection closed"));
		assertThat(isIdle()).isFalse();
		assertThat(this.store.released).hasSize(1);
		runBackground();
		assertThat(this.store.released).hasSize(2);
		assertThat(this.store.releasedTokens()).containsOnly(this.store.releasedTokens().get(0));
		assertThat(isIdle()).isTrue();
		assertNothingLeft();
	}

	@Test
	void storeThatCannotDoItReleasesInTheBackgroundAndTheNextCallerWaits() {
		this.store.onReleaseAsync = null;
		held(request(), 1).close();
		Running<HeldLock> next = waitingBehind(request());
		assertThat(this.store.released).isEmpty();
		runBackground();
		assertThat(this.store.released).hasSize(1);
		this.store.nextLook().acquired(2);
		next.get().close();
		assertNothingLeft();
	}

	@Test
	void releaseThatCannotBeSentAtAllIsLeftToTheBackground() {
		this.store.onReleaseAsync = (request) -> {
			throw new NoClassDefFoundError("broken");
		};
		held(request(), 1).close();
		Running<HeldLock> next = waitingBehind(request());
		runBackground();
		assertThat(this.store.released).hasSize(2);
		this.store.nextLook().acquired(2);
		this.store.onReleaseAsync = null;
		next.get().close();
		assertNothingLeft();
	}

	@Test
	void lossThatTheBackgroundFindsIsAnEventToo() {
		this.store.onReleaseAsync = null;
		this.store.onRelease = (release) -> ReleaseResult.NotOwner.of(2, 1);
		held(request(), 1).close();
		runBackground();
		assertThat(events(LockEvent.Lost.class)).hasSize(1);
		assertNothingLeft();
	}

	@Test
	void callersWaitWhenTooManyReleasesHaveNoResult() {
		this.store.free();
		for (int i = 0; i < 1_500; i++) {
			this.engine.template().acquire(LockRequest.of("order:" + i)).close();
		}
		assertThat(this.sent).hasSize(1_000);
		assertThat(this.store.released).hasSize(1_500);
		this.sent.forEach((result) -> result.complete(new ReleaseResult.Released()));
		this.engine.template().acquire(request()).close();
		assertThat(this.sent).hasSize(1_001);
	}

	@Test
	void f26StopWaitsForTheirResults() {
		held(request(), 1).close();
		assertThat(isIdle()).isFalse();
		this.sent.get(0).complete(new ReleaseResult.Released());
		assertThat(isIdle()).isTrue();
	}

	private boolean isIdle() {
		return this.registry.asyncReleases().isIdle() && this.registry.dispatcher().isIdle();
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
		advance(TTL.minus(DRIFT));
		this.sent.get(0).complete(ReleaseResult.NotOwner.of(2, 1));
		assertThat(output).doesNotContain("was gone when it was released");
		held(request(), 3).close();
		this.sent.get(1).complete(ReleaseResult.NotOwner.of(3, 1));
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertThat(output).contains("was gone when it was released");
	}

	@Test
	void f26StopWaitsForReleasesWithoutAResultForACommandTimeout() {
		CompletableFuture<ReleaseResult> result = new CompletableFuture<>();
		this.store.onReleaseAsync = (request) -> result;
		held(request(), 1).close();
		Running<Boolean> stopping = start(() -> {
			this.engine.stop();
			return true;
		});
		this.time.awaitParked(stopping.thread());
		advance(EngineSettings.defaults().commandTimeout().minusNanos(1));
		this.time.awaitParked(stopping.thread());
		assertThat(stopping.result()).isNotDone();
		result.complete(new ReleaseResult.Released());
		await().pollInterval(Duration.ofMillis(1)).until(() -> {
			runBackground();
			advance(Duration.ofMillis(1));
			return stopping.result().isDone();
		});
	}

}
