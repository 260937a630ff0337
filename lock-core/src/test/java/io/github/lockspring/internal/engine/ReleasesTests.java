package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.support.EngineThreads;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.StoreClient;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When a release is repeated, and for how long, with the clock and the threads in the
 * test's hand.
 */
class ReleasesTests {

	private static final Duration TTL = Duration.ofSeconds(30);

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final Duration INTERVAL = Duration.ofMillis(500);

	private final FakeTime time = new FakeTime();

	/** Of the requests sent, in their order. */
	private final List<CompletableFuture<ReleaseResult>> answers = new ArrayList<>();

	private final ScriptedStore store = new ScriptedStore() {

		@Override
		public String shard(String key) {
			return key.substring(0, 1);
		}

	};

	private boolean outOfThreads;

	private final Executor background = (task) -> {
		if (this.outOfThreads) {
			throw new OutOfMemoryError("unable to create native thread");
		}
		task.run();
	};

	private final Releases releases = new Releases(
			new StoreClient(this.store, TIMEOUT, new LockEvents(LockEvents.NOBODY, LockRecorder.NONE, Runnable::run),
					this.time,
					new EngineThreads.Executors(this.background, this.background, Runnable::run, Runnable::run)),
			this.time, (at) -> {
			});

	private long tokens;

	ReleasesTests() {
		this.store.onReleaseAsync = (request) -> {
			CompletableFuture<ReleaseResult> answer = new CompletableFuture<>();
			this.answers.add(answer);
			return answer;
		};
	}

	private Release release(String key) {
		ReleaseRequest request = new ReleaseRequest(key, new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", ++this.tokens, 1000));
		Release release = this.releases.register(request, null, this.time.nanoTime() + TTL.toNanos());
		this.releases.send(release, false);
		return release;
	}

	/** Time passes, and what is due is done. */
	private void pass(Duration duration) {
		this.time.advance(duration);
		this.releases.tick(this.time.nanoTime());
	}

	private void answer(int number) {
		this.answers.get(number).complete(new ReleaseResult.Released());
	}

	private void fail(int number) {
		this.answers.get(number).completeExceptionally(new LockUnavailableException("no answer"));
	}

	private List<String> sent() {
		return this.store.released.stream().map(ReleaseRequest::key).toList();
	}

	@Test
	void releaseIsKnownUntilItIsAnswered() {
		Release release = release("a");
		assertThat(this.releases.registered(release.token())).isNotNull();
		pass(TIMEOUT.minusNanos(1));
		answer(0);
		assertThat(release.firstTry()).isCompletedWithValue(new ReleaseResult.Released());
		assertThat(this.releases.isEmpty()).isTrue();
		pass(TTL);
		assertThat(sent()).containsExactly("a");
	}

	/** It would be sent twice. */
	@Test
	void watchdogDoesNotSendWhatItsHolderIsAboutToSend() {
		ReleaseRequest request = new ReleaseRequest("a", new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", 1, 1000));
		Release release = this.releases.register(request, null, this.time.nanoTime() + TTL.toNanos());
		pass(Duration.ZERO);
		assertThat(sent()).isEmpty();
		this.releases.send(release, false);
		assertThat(sent()).hasSize(1);
	}

	@Test
	@Tag("repeated-releases")
	void releaseThatFailsIsRepeatedAfterHalfASecond() {
		Release release = release("a");
		fail(0);
		assertThat(release.firstTry()).isCompletedExceptionally();
		pass(INTERVAL.minusNanos(1));
		assertThat(sent()).hasSize(1);
		pass(Duration.ofNanos(1));
		assertThat(this.store.releasedTokens()).hasSize(2).containsOnly(release.token());
		answer(1);
		assertThat(this.releases.isEmpty()).isTrue();
	}

	/** The lock would be idle until the next try. */
	@Test
	void releaseOfATokenThatIsHandedTheLockIsRepeatedAtOnce() {
		Release release = release("a");
		assertThat(this.releases.prolong(release.token(), this.time.nanoTime())).isTrue();
		assertThat(sent()).as("a try is under way").hasSize(1);
		fail(0);
		assertThat(this.releases.prolong(release.token(), this.time.nanoTime())).isTrue();
		assertThat(sent()).hasSize(2);
	}

	@Test
	void releaseWithoutAnAnswerIsOverAfterItsTimeout() {
		Release release = release("a");
		pass(TIMEOUT.minusNanos(1));
		assertThat(release.firstTry()).isNotDone();
		pass(Duration.ofNanos(1));
		assertThat(release.firstTry()).isCompletedExceptionally();
		assertThat(sent()).hasSize(1);
		pass(INTERVAL);
		assertThat(sent()).hasSize(2);
		answer(0);
		assertThat(this.releases.isEmpty()).as("any answer counts").isTrue();
	}

	@Test
	@Tag("repeated-releases")
	void releaseIsNotRepeatedWhenItsLeaseIsOver() {
		release("a");
		this.time.advance(TTL.minus(INTERVAL).minusNanos(1));
		fail(0);
		pass(INTERVAL);
		assertThat(sent()).hasSize(2);
		fail(1);
		pass(INTERVAL);
		assertThat(sent()).hasSize(2);
		assertThat(this.releases.isEmpty()).isTrue();
	}

	@Test
	void oneReleaseOfASilentServerIsRepeatedUntilItAnswers() {
		for (String key : List.of("a1", "a2", "a3", "b")) {
			release(key);
		}
		pass(TIMEOUT);
		answer(3);
		pass(INTERVAL);
		assertThat(sent()).hasSize(5);
		pass(INTERVAL);
		assertThat(sent()).as("the one that is under way has no answer").hasSize(5);
		answer(4);
		pass(INTERVAL);
		assertThat(sent().subList(4, 7)).containsExactlyInAnyOrder("a1", "a2", "a3");
	}

	@Test
	void releasesOfAServerThatRefusesThemAreAllRepeated() {
		release("a1");
		release("a2");
		fail(0);
		fail(1);
		pass(INTERVAL);
		assertThat(sent()).hasSize(4);
	}

	@Test
	void releaseOfATokenThatIsOnItsWayIsSentOnceMoreAfterItsAnswer() {
		Release release = release("a");
		assertThat(this.releases.register(release.request(this.time.nanoTime()), null, this.time.nanoTime()))
			.isSameAs(release);
		this.releases.send(release, false);
		assertThat(sent()).hasSize(1);
		answer(0);
		assertThat(sent()).hasSize(2);
		answer(1);
		assertThat(this.releases.isEmpty()).isTrue();
	}

	/** The answer of the first try says nothing about an attempt that came after it. */
	@Test
	void answerOfATryBeforeTheLateAttemptDoesNotCount() {
		Release release = release("a");
		this.releases.register(release.request(this.time.nanoTime()), null, this.time.nanoTime() + TTL.toNanos());
		this.releases.send(release, false);
		pass(TIMEOUT);
		answer(0);
		assertThat(sent()).hasSize(2);
		assertThat(this.releases.isEmpty()).isFalse();
		answer(1);
		assertThat(this.releases.isEmpty()).isTrue();
	}

	@Test
	void releaseThatGetsNoThreadIsRepeated() {
		this.store.traits = StoreTraits.exact().withBlocking(true);
		this.outOfThreads = true;
		Release release = release("a");
		assertThat(release.firstTry()).isCompletedExceptionally();
		this.outOfThreads = false;
		pass(INTERVAL);
		assertThat(sent()).hasSize(1);
	}

	@Test
	void callerSendsItsReleaseToAStoreThatBlocks() {
		this.store.traits = StoreTraits.exact().withBlocking(true);
		this.outOfThreads = true;
		Release release = this.releases.register(
				new ReleaseRequest("a", new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", 1, 1000)), null,
				this.time.nanoTime() + TTL.toNanos());
		this.releases.send(release, true);
		answer(0);
		assertThat(release.firstTry()).isCompletedWithValue(new ReleaseResult.Released());
	}

}
