package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.ScriptedStore;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When releases and renewals are sent in the background, and repeated, with the clock and
 * the threads in the test's hand.
 */
class StoreDispatcherTests {

	private static final Duration TTL = Duration.ofSeconds(30);

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final Duration REPEATED = Duration.ofMillis(500);

	private final HandTime time = new HandTime();

	private final ScriptedStore store = new ScriptedStore();

	private final Queue<Runnable> tasks = new ArrayDeque<>();

	private final List<Runnable> reports = new ArrayList<>();

	private Executor executor = this.tasks::add;

	private final StoreDispatcher dispatcher = new StoreDispatcher(
			new StoreClient(this.store, TIMEOUT, this.reports::add, Recording.OFF, this.time), 2, this.time,
			(task) -> this.executor.execute(task), this.reports::add);

	private final List<@Nullable ReleaseResult> told = new ArrayList<>();

	private long tokens;

	private ReleaseRequest request(Duration ttl) {
		return new ReleaseRequest("a", new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", ++this.tokens, 1000), ttl, 0,
				Duration.ZERO);
	}

	private void release(ReleaseRequest request) {
		this.dispatcher.release(request, this.told::add);
	}

	private void run() {
		Runnable task;
		while ((task = this.tasks.poll()) != null) {
			task.run();
		}
	}

	private void silent(Duration took) {
		this.store.onRelease = (request) -> {
			this.time.advance(took);
			throw new LockUnavailableException("no answer");
		};
	}

	private void answer() {
		this.store.onRelease = (request) -> new ReleaseResult.Released();
	}

	/** Something else is to be sent, so there is a thread again. */
	private void wake() {
		this.dispatcher.renew(List.of(new PlainRenewal("a", () -> null)));
		run();
	}

	@Test
	void releaseHasItsResult() {
		release(request(TTL));
		assertThat(this.dispatcher.isIdle()).isFalse();
		run();
		assertThat(this.told).containsExactly(new ReleaseResult.Released());
		assertThat(this.dispatcher.isIdle()).isTrue();
		assertThat(this.dispatcher.isSilent("a")).isFalse();
	}

	@Test
	void releaseWithoutAResultIsRepeatedAfterHalfASecond() {
		silent(Duration.ZERO);
		release(request(TTL));
		run();
		assertThat(this.told).containsExactly((ReleaseResult) null);
		assertThat(this.time.pauses).containsExactly(REPEATED.toNanos());
		answer();
		this.time.advance(REPEATED.minusNanos(1));
		wake();
		assertThat(this.store.released).hasSize(1);
		this.time.advance(Duration.ofNanos(1));
		wake();
		assertThat(this.store.released).hasSize(2);
		assertThat(this.told).hasSize(1);
		assertThat(this.dispatcher.isIdle()).isTrue();
	}

	@Test
	void answerToAnotherRequestEndsThePause() {
		silent(Duration.ZERO);
		release(request(TTL));
		run();
		answer();
		this.store.onRenew = (request) -> RenewResult.UNKNOWN;
		this.dispatcher.renew(List.of(renewal("a")));
		run();
		assertThat(this.store.released).hasSize(1);
		this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
		this.dispatcher.renew(List.of(renewal("a")));
		run();
		assertThat(this.store.released).hasSize(2);
	}

	@Test
	void answerToACallerEndsThePauseAndTheSilence() {
		this.dispatcher.answered("a");
		assertThat(this.tasks).isEmpty();
		silent(TIMEOUT);
		release(request(TTL));
		run();
		assertThat(this.dispatcher.isSilent("a")).isTrue();
		answer();
		this.dispatcher.answered("a");
		assertThat(this.dispatcher.isSilent("a")).isFalse();
		run();
		assertThat(this.store.released).hasSize(2);
		this.dispatcher.answered("a");
		assertThat(this.tasks).isEmpty();
	}

	@Test
	void answersToCallersDoNotRepeatARefusedReleaseMoreThanTwiceInAPause() {
		silent(Duration.ZERO);
		release(request(TTL));
		run();
		for (int i = 0; i < 100; i++) {
			this.dispatcher.answered("a");
			run();
		}
		assertThat(this.store.released).hasSize(2);
		this.time.advance(REPEATED);
		this.dispatcher.answered("a");
		run();
		assertThat(this.store.released).hasSize(3);
	}

	@Test
	void oneReleaseWithoutAResultHoldsUpTheOthersWhichAreTold() {
		silent(Duration.ZERO);
		release(request(TTL));
		release(request(TTL));
		run();
		assertThat(this.store.released).hasSize(1);
		assertThat(this.told).containsExactly(null, null);
		answer();
		this.time.advance(REPEATED);
		wake();
		assertThat(this.store.released).hasSize(3);
	}

	@Test
	void releaseIsNotRepeatedWhenItsLeaseIsOver() {
		silent(Duration.ZERO);
		release(request(TTL));
		release(request(TTL.plusNanos(1)));
		this.time.advance(TTL);
		run();
		answer();
		this.time.advance(REPEATED);
		wake();
		assertThat(this.store.released).hasSize(2);
	}

	@Test
	void messageCallsForNoReleaseThatIsToBeSentAnyway() {
		ReleaseRequest first = request(TTL);
		release(first);
		this.dispatcher.release(new ReleaseRequest("a", first.token()), null);
		this.dispatcher.release(new ReleaseRequest("a", request(TTL).token()), null);
		run();
		assertThat(this.store.released).extracting(ReleaseRequest::token)
			.containsExactly(first.token(), new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", 2, 1000));
	}

	@Test
	void messagesCallForOneReleaseOfALostLock() {
		ReleaseRequest lost = new ReleaseRequest("a", request(TTL).token(), TTL, 7, Duration.ZERO);
		for (int i = 0; i < 10; i++) {
			this.dispatcher.release(lost, null);
		}
		run();
		assertThat(this.store.released).containsExactly(lost);
	}

	@Test
	void serverIsSilentWhenARequestTookHalfOfItsTime() {
		silent(TIMEOUT.dividedBy(2).minusNanos(1));
		release(request(TTL));
		run();
		assertThat(this.dispatcher.isSilent("a")).isFalse();
		silent(TIMEOUT.dividedBy(2));
		this.time.advance(REPEATED);
		wake();
		assertThat(this.dispatcher.isSilent("a")).isTrue();
		answer();
		this.time.advance(REPEATED);
		wake();
		assertThat(this.dispatcher.isSilent("a")).isFalse();
	}

	@Test
	void releaseOfACallerIsRepeatedForTheTimeThatIsLeft() {
		ReleaseRequest kept = new ReleaseRequest("a", request(TTL).token(), TTL, 0, Duration.ofSeconds(5));
		long sent = this.time.nanoTime();
		this.time.advance(TIMEOUT.dividedBy(2).minusNanos(1));
		this.dispatcher.repeat(kept, sent);
		assertThat(this.dispatcher.isSilent("a")).isFalse();
		this.time.advance(Duration.ofNanos(1));
		this.dispatcher.repeat(kept, sent);
		assertThat(this.dispatcher.isSilent("a")).isTrue();
		run();
		assertThat(this.store.released).extracting(ReleaseRequest::keep)
			.containsExactly(Duration.ofMillis(4500).plusNanos(1), Duration.ofMillis(4500));
	}

	@Test
	void endOfTheRepetitionsTriesWhatIsLeftOnceMore() {
		silent(Duration.ZERO);
		release(request(TTL));
		run();
		this.dispatcher.endRepetitions();
		wake();
		assertThat(this.store.released).hasSize(2);
		this.time.advance(REPEATED);
		wake();
		assertThat(this.store.released).hasSize(2);
	}

	@Test
	void endOfTheRepetitionsEndsAPauseAtOnce() {
		silent(Duration.ZERO);
		this.time.onPause = () -> {
			this.dispatcher.endRepetitions();
			return true;
		};
		release(request(TTL));
		run();
		assertThat(this.time.unparked).containsExactly(Thread.currentThread());
		assertThat(this.store.released).hasSize(2);
		assertThat(this.dispatcher.isIdle()).isTrue();
	}

	@Test
	void requestDuringAPauseIsSentAfterIt() {
		silent(Duration.ZERO);
		this.time.onPause = () -> {
			this.time.onPause = () -> false;
			this.dispatcher.renew(List.of(renewal("a")));
			return false;
		};
		release(request(TTL));
		run();
		assertThat(this.time.unparked).hasSize(1);
		assertThat(this.store.renewed).hasSize(1);
	}

	@Test
	void whereNoThreadCanBeStartedWaitersAreToldAndTheNextRequestTakesItAlong() {
		this.executor = (task) -> {
			throw new RejectedExecutionException("no thread");
		};
		release(request(TTL));
		PlainRenewal renewal = renewal("a");
		this.dispatcher.renew(List.of(renewal));
		assertThat(this.told).containsExactly((ReleaseResult) null);
		assertThat(renewal.results).containsExactly(RenewResult.UNKNOWN);
		assertThat(this.reports).hasSize(2);
		assertThat(this.dispatcher.isIdle()).isTrue();
		this.executor = this.tasks::add;
		wake();
		assertThat(this.store.released).hasSize(1);
		assertThat(this.told).hasSize(1);
	}

	@Test
	void renewalsAreSentInBatchesBeforeReleases() {
		List<PlainRenewal> renewals = List.of(renewal("a"), renewal("b"), renewal("c"));
		this.store.onRelease = (request) -> {
			assertThat(this.store.renewed).hasSize(2);
			return new ReleaseResult.Released();
		};
		release(request(TTL));
		this.dispatcher.renew(renewals);
		run();
		assertThat(this.told).hasSize(1);
		assertThat(this.store.renewed).extracting(List::size).containsExactly(2, 1);
		assertThat(renewals).allSatisfy((each) -> assertThat(each.results).containsExactly(RenewResult.RENEWED));
	}

	@Test
	void renewalThatFailsInTheEngineHarmsNoOther() {
		PlainRenewal broken = new PlainRenewal("a", () -> {
			throw new IllegalStateException("broken");
		});
		PlainRenewal unheard = new PlainRenewal("b", () -> request("b")) {
			@Override
			public void renewed(RenewResult result, long sent, long ttl, long now) {
				throw new IllegalStateException("broken too");
			}
		};
		PlainRenewal good = renewal("c");
		this.dispatcher.renew(List.of(broken, unheard, good));
		run();
		assertThat(good.results).containsExactly(RenewResult.RENEWED);
		assertThat(this.reports).hasSize(2);
		assertThat(this.dispatcher.isIdle()).isTrue();
	}

	@Test
	void receiverOfAResultThatFailsHarmsNoOtherRelease() {
		this.dispatcher.release(request(TTL), (result) -> {
			throw new IllegalStateException("broken");
		});
		release(request(TTL));
		run();
		assertThat(this.told).containsExactly(new ReleaseResult.Released());
		assertThat(this.reports).hasSize(1);
	}

	private static RenewRequest request(String key) {
		return new RenewRequest(key, new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", 1, 1000), TTL);
	}

	private static PlainRenewal renewal(String key) {
		return new PlainRenewal(key, () -> request(key));
	}

	/**
	 * Makes a request, and notes its results.
	 */
	private static class PlainRenewal implements StoreDispatcher.Renewal {

		private final String key;

		private final Supplier<@Nullable RenewRequest> request;

		private final List<RenewResult> results = new ArrayList<>();

		PlainRenewal(String key, Supplier<@Nullable RenewRequest> request) {
			this.key = key;
			this.request = request;
		}

		@Override
		public String key() {
			return this.key;
		}

		@Override
		public @Nullable RenewRequest renewRequest(long now) {
			return this.request.get();
		}

		@Override
		public void renewed(RenewResult result, long sent, long ttl, long now) {
			this.results.add(result);
		}

	}

}
