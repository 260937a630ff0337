package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockException;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

/**
 * The counter-examples that the protocol's rules are there for, one by one: each is the
 * shortest run in which two would hold the lock, or nobody would get it, without the
 * rule.
 */
class ProtocolTraceTests extends EngineFixture {

	private static final Duration GRANT = Duration.ofSeconds(5);

	@Test
	void h01GrantedLeaseCountsFromTheAttemptAndNotFromTheMessage() {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofMillis(900));
		HeldLock lock = grant(waiting, 101);
		Duration drift = GRANT.dividedBy(100).plusMillis(2);
		assertThat(lock.remaining()).isEqualTo(GRANT.minus(drift).minusMillis(900));
	}

	@Test
	void h01GrantThatArrivesWhenItsLeaseIsOverIsNotUsed() {
		Waiting waiting = waiting(request(), 100);
		// the process is stopped: neither the message nor the timer is handled in time
		this.time.advanceUnnoticed(Duration.ofSeconds(6));
		this.store.messages().granted(KEY, waiting.token(), 101, false);
		this.store.nextLook().busy(TTL, 102);
		this.time.awaitParked(waiting.thread());
		assertThat(waiting.isDone()).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "101, 101", "103, 102" })
	void h02GrantThatArrivesDuringAnAttemptIsNotUsedWhateverTheResultSays(long granted, long last) {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofMillis(1100));
		ScriptedStore.Asked second = this.store.nextLook();
		this.store.messages().granted(KEY, second.token(), granted, false);
		second.busy(TTL, last);
		ScriptedStore.Asked third = this.store.nextLook();
		assertThat(waiting.isDone()).isFalse();
		third.acquired(105);
		assertThat(waiting.get().fencingToken()).isEqualTo(105);
	}

	@Test
	void h03GrantNotNewerThanTheLastAttemptIsStale() {
		Waiting waiting = waiting(request(), 100);
		this.store.messages().granted(KEY, waiting.token(), 100, false);
		this.store.nextLook();
		assertThat(waiting.isDone()).isFalse();
	}

	@Test
	void h04LaterAttemptsOfAnOwnershipRepeatItsToken() {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofMillis(1100));
		ScriptedStore.Asked second = this.store.nextLook();
		assertThat(second.token()).isEqualTo(waiting.token());
		assertThat(this.store.looks).extracting(AcquireRequest::queue).containsExactly(true, true);
	}

	@Test
	void h06ResultOfARenewalDoesNotReviveALeaseThatIsOver() {
		HeldLock lock = held(request(), 1);
		this.store.onRenew = (request) -> {
			// the answer takes longer than the lease lasts
			this.time.advance(Duration.ofSeconds(20));
			return RenewResult.RENEWED;
		};
		advance(Duration.ofSeconds(10));
		assertThat(this.store.renewed).hasSize(1);
		assertThat(lock.remaining()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
	}

	@Test
	void h07RenewalNeverShortensALease() {
		HeldLock lock = held(request(), 1);
		lock.extend(Duration.ofMinutes(10));
		Duration before = lock.remaining();
		advance(Duration.ofSeconds(1));
		lock.extend(Duration.ofSeconds(1));
		assertThat(lock.remaining()).isEqualTo(before.minusSeconds(1));
	}

	@Test
	void h08ResultThatArrivesAfterItsLeaseIsNotUsed() {
		Waiting asking = asking(request());
		this.time.advance(TTL.minus(DRIFT));
		asking.attempt().acquired(1);
		this.time.awaitParked(asking.thread());
		assertThat(untilNextAttempt()).as("a pause").isEqualTo(Duration.ofSeconds(1));
		advance(Duration.ofSeconds(1));
		ScriptedStore.Asked second = this.store.nextLook();
		assertThat(second.token()).isEqualTo(asking.token());
		second.acquired(2);
		assertThat(asking.get().fencingToken()).isEqualTo(2);
	}

	@Test
	void h11ReleaseThatNeverArrivedIsRepeated() {
		OwnerToken orphan = releaseThatFails();
		advance(Duration.ofMillis(499));
		assertThat(this.store.releasedTokens()).containsExactly(orphan);
		advance(Duration.ofMillis(1));
		assertThat(this.store.releasedTokens()).containsExactly(orphan, orphan);
		assertNothingLeft();
	}

	/** The lock would be idle until the next try. */
	@Test
	void h11ReleaseThatNeverArrivedIsRepeatedAtOnceIfAMessageSaysSo() {
		OwnerToken orphan = releaseThatFails();
		this.store.messages().granted(KEY, orphan, 2, false);
		assertThat(this.store.releasedTokens()).containsExactly(orphan, orphan);
		assertNothingLeft();
	}

	private OwnerToken releaseThatFails() {
		HeldLock lock = held(request(), 1);
		this.store.failReleases();
		lock.close();
		this.store.answerReleases();
		return token();
	}

	@Test
	void h11AcquisitionThatIsCarriedOutAfterItsCallerHasGoneIsReleased() {
		Waiting asking = asking(request().waitTime(Duration.ZERO));
		asking.attempt().fails();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(asking::get);
		assertThat(this.store.releasedTokens()).containsExactly(asking.token());
		this.store.messages().wanted(KEY, asking.token());
		assertThat(this.store.releasedTokens()).containsExactly(asking.token(), asking.token());
		assertNothingLeft();
	}

	@Test
	void h11HandOverToACallerThatHasGoneIsReleased() {
		Waiting waiting = waiting(request().waitTime(Duration.ofMillis(500)), 100);
		advance(Duration.ofMillis(500));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(waiting::get);
		this.store.messages().granted(KEY, waiting.token(), 101, false);
		assertThat(this.store.releasedTokens()).containsExactly(waiting.token(), waiting.token());
	}

	/** An attempt whose caller has gone before its result. */
	private ScriptedStore.Asked interruptedAttempt() {
		Waiting asking = asking(request());
		asking.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(asking::get);
		return asking.attempt();
	}

	@Test
	void h11LateResultThatMayHaveLeftItsTokenInTheStoreCausesAnotherRelease() {
		ScriptedStore.Asked acquired = interruptedAttempt();
		acquired.acquired(1);
		ScriptedStore.Asked queued = interruptedAttempt();
		queued.busy(TTL, 1);
		assertThat(this.store.releasedTokens()).containsExactly(acquired.token(), acquired.token(), queued.token(),
				queued.token());
		this.store.inboxConfirmed = false;
		ScriptedStore.Asked notQueued = interruptedAttempt();
		notQueued.busy(TTL, 1);
		assertThat(this.store.releasedTokens()).hasSize(5).endsWith(notQueued.token());
		assertNothingLeft();
	}

	@Test
	void h12RepeatedMessagesAboutALockInUseChangeNothing() {
		Waiting waiting = waiting(request(), 100);
		HeldLock lock = grant(waiting, 101);
		this.store.messages().granted(KEY, waiting.token(), 101, false);
		this.store.messages().wanted(KEY, waiting.token());
		assertThat(this.store.released).isEmpty();
		assertThat(lock.isHeld()).isTrue();
	}

	@Test
	void h12MessagesForOtherInstancesAreIgnored() {
		this.store.messages().wanted(KEY, new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", 1, 5000));
		assertThat(this.store.released).isEmpty();
	}

	@Test
	void h37LostLockIsReleasedAtOnceWithItsLastFencingToken() {
		HeldLock first = held(request(), 1);
		Running<HeldLock> second = waitingBehind(request());
		OwnerToken token = token();
		first.close();
		assertThat(second.get().fencingToken()).isEqualTo(2);
		Queue<CompletableFuture<ReleaseResult>> releases = this.store.holdReleases();
		advance(TTL);
		this.store.messages().wanted(KEY, token);
		assertThat(this.store.released).as("at once, and not again because of the message")
			.extracting(ReleaseRequest::token, ReleaseRequest::lastFencingToken)
			.containsExactly(tuple(token, 2L));
		releases.remove().complete(new ReleaseResult.Released());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(second.get()::close);
		assertThat(this.store.released).hasSize(1);
		assertNothingLeft();
	}

	@Test
	void inboxThatHasClosedItselfIsNotMissed() {
		this.store.inboxConfirmed = false;
		assertThat(this.registry.inboxState()).as("never needed").isEmpty();
		waiting(request(), 100);
		assertThat(this.registry.inboxState()).contains(false);
		this.store.inboxOpen = false;
		assertThat(this.registry.inboxState()).as("closed by itself").isEmpty();
		this.store.inboxConfirmed = true;
		assertThat(this.registry.inboxState()).contains(true);
	}

	/**
	 * A lease without an end, and one of so many milliseconds that as nanoseconds they
	 * are next to nothing, since 2 to the power of 64 of them fall away.
	 */
	@ParameterizedTest
	@CsvSource({ "30000, 1000, 1000", "300, 300, 320", "-1, 1000, 1000", "18446744073710, 1000, 1000" })
	void h13WaiterRetriesWithoutAMessageSinceAGrantMayBeLost(long remaining, long shortest, long longest) {
		Waiting waiting = asking(request());
		waiting.attempt().answer().complete(new AcquireResult.Busy(remaining, 100));
		this.time.awaitParked(waiting.thread());
		assertThat(untilNextAttempt()).isBetween(Duration.ofMillis(shortest), Duration.ofMillis(longest));
		advance(untilNextAttempt());
		this.store.nextLook().acquired(101);
		assertThat(waiting.get().fencingToken()).isEqualTo(101);
	}

	@Test
	void h13EveryNewSubscriptionMakesWaitersRetry() {
		Waiting waiting = waiting(request(), 100);
		this.store.messages().opened();
		advance(Duration.ofMillis(50));
		this.store.nextLook().acquired(101);
		assertThat(waiting.get().isHeld()).isTrue();
	}

	static List<BiConsumer<InboxListener, OwnerToken>> messages() {
		return List.of((inbox, token) -> inbox.wanted(KEY, token), (inbox, token) -> inbox.opened(),
				(inbox, token) -> inbox.granted(KEY, token, 99, false));
	}

	@ParameterizedTest
	@MethodSource("messages")
	void h13MessageThatArrivesDuringAnAttemptIsFollowedByAnother(BiConsumer<InboxListener, OwnerToken> message) {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofSeconds(1));
		ScriptedStore.Asked second = this.store.nextLook();
		message.accept(this.store.messages(), second.token());
		second.busy(TTL, 100);
		ScriptedStore.Asked third = this.store.nextLook();
		message.accept(this.store.messages(), second.token());
		third.fails();
		this.store.nextLook().acquired(101);
		assertThat(waiting.get().isHeld()).isTrue();
	}

	@Test
	void h09WaiterWithoutConfirmedInboxQueuesWithAShortGrantAfterHalfASecond() {
		this.store.inboxConfirmed = false;
		Waiting waiting = waiting(request(), 100);
		assertThat(waiting.attempt().request().queue()).as("the inbox may open yet").isFalse();
		assertThat(waiting.token().grantMillis()).isEqualTo(5000);
		assertThat(this.store.inboxOpened).isPositive();
		assertThat(untilNextAttempt()).isBetween(Duration.ofMillis(50), Duration.ofMillis(500));
		ScriptedStore.Asked second = attemptAfter(Duration.ofMillis(499), waiting.token());
		assertThat(second.request()).as("the inbox may open yet").isEqualTo(waiting.attempt().request());
		second.busy(TTL, 100);
		ScriptedStore.Asked third = attemptAfter(Duration.ofMillis(1), waiting.token());
		assertQueuesAnew(third, waiting.token());
		third.busy(TTL, 100);
		assertThat(untilNextAttempt()).isEqualTo(Duration.ofMillis(125));
		this.store.inboxConfirmed = true;
		advance(Duration.ofMillis(125));
		assertThat(this.store.nextLook().request()).as("until it owns the lock").isEqualTo(third.request());
	}

	/** Caused by a message, and not by the time. */
	private ScriptedStore.Asked attemptAfter(Duration duration, OwnerToken token) {
		this.time.advance(duration);
		this.store.messages().wanted(KEY, token);
		return this.store.nextLook();
	}

	/** With a short grant, and without the token that no message has reached. */
	private void assertQueuesAnew(ScriptedStore.Asked attempt, OwnerToken before) {
		assertThat(this.store.releasedTokens()).containsExactly(before);
		assertThat(attempt.request().queue()).isTrue();
		assertThat(attempt.token().grantMillis()).isEqualTo(500);
	}

	@Test
	void h09WaiterWhoseInboxIsConfirmedAfterItsFirstAttemptQueues() {
		this.store.inboxConfirmed = false;
		Waiting waiting = waiting(request(), 100);
		this.store.inboxConfirmed = true;
		this.store.messages().opened();
		advance(Duration.ofMillis(50));
		assertThat(this.store.nextLook().token()).isEqualTo(waiting.token());
		assertThat(this.store.looks).extracting(AcquireRequest::queue).containsExactly(false, true);
	}

	@Test
	void h09WaiterWhoseInboxIsConfirmedDuringItsAttemptQueuesAtOnce() {
		this.store.inboxConfirmed = false;
		Waiting asking = asking(request());
		this.store.inboxConfirmed = true;
		asking.attempt().busy(TTL, 100);
		assertThat(this.store.nextLook().request().queue()).isTrue();
	}

	@Test
	void h09QueuedWaiterQueuesAnewWithAShortGrantWhenMessagesDoNotArriveForHalfASecond() {
		OwnerToken token = waiting(request(), 100).token();
		this.store.inboxConfirmed = false;
		for (Duration pause : List.of(Duration.ofMillis(900), Duration.ofMillis(499))) {
			ScriptedStore.Asked next = attemptAfter(pause, token);
			assertThat(next.token()).isEqualTo(token);
			assertThat(next.request().queue()).isFalse();
			next.busy(TTL, 100);
		}
		assertQueuesAnew(attemptAfter(Duration.ofMillis(1), token), token);
	}

	@Test
	void h09QueuedWaiterKeepsItsPlaceWhenItsInboxIsConfirmedAgainSoon() {
		OwnerToken token = waiting(request(), 100).token();
		for (boolean confirmed : new boolean[] { false, true, false, true, false, true }) {
			this.store.inboxConfirmed = confirmed;
			ScriptedStore.Asked next = attemptAfter(Duration.ofMillis(400), token);
			assertThat(next.token()).isEqualTo(token);
			assertThat(next.request().queue()).isEqualTo(confirmed);
			next.busy(TTL, 100);
		}
		assertThat(this.store.released).isEmpty();
	}

	@Test
	void h09WaiterForAShortLeaseQueuesWithoutAnInbox() {
		this.store.inboxConfirmed = false;
		Waiting waiting = waiting(request().ttl(Duration.ofMillis(500)), 100);
		assertThat(waiting.attempt().request().queue()).isTrue();
		assertThat(untilNextAttempt()).isEqualTo(Duration.ofMillis(125));
		ScriptedStore.Asked later = attemptAfter(Duration.ofSeconds(1), waiting.token());
		assertThat(later.request()).isEqualTo(waiting.attempt().request());
	}

	@Test
	void h15WaiterDoesNotWaitForALocalHolderWhoseLeaseIsOver() {
		HeldLock hanging = held(request(), 1);
		OwnerToken lost = token();
		Running<HeldLock> second = waitingBehind(request());
		advance(TTL);
		ScriptedStore.Asked attempt = this.store.nextLook();
		assertThat(attempt.token()).isNotEqualTo(lost);
		attempt.acquired(2);
		assertThat(second.get().fencingToken()).isEqualTo(2);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(hanging::close);
		hanging.close();
		assertThat(this.store.releasedTokens()).containsExactly(lost);
	}

	@Test
	void h16NextCallerTakesOverTheOwnershipOfOneThatGivesUp() {
		Waiting first = waiting(request().waitTime(Duration.ofMillis(500)), 100);
		Running<HeldLock> second = waitingBehind(request());
		advance(Duration.ofMillis(500));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(first::get);
		assertThat(this.store.released).isEmpty();
		this.store.messages().granted(KEY, first.token(), 101, false);
		assertThat(second.get().fencingToken()).isEqualTo(101);
	}

	@Test
	void h16CallerWhoseTimeEndsWhileTheStoreDoesNotReplyLearnsThat() {
		Waiting asking = asking(request().waitTime(Duration.ofMillis(700)));
		asking.attempt().fails();
		advance(Duration.ofMillis(700));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(asking::get)
			.havingCause()
			.withMessageContaining("no answer");
	}

	@Test
	@Tag("lock-without-wait-time")
	void h16CallerWithoutAWaitTimeLearnsBehindAnotherOneThatTheStoreDoesNotReply() {
		Waiting patient = asking(request());
		ScriptedStore.Asked attempt = patient.attempt();
		Running<Boolean> late = start(() -> {
			this.template.asLock(KEY).lock();
			return true;
		});
		this.time.awaitParked(late.thread());
		for (int i = 0; i < 5; i++) {
			attempt.fails();
			assertThat(late.result()).isNotDone();
			advance(Duration.ofSeconds(1));
			attempt = this.store.nextLook();
		}
		attempt.fails();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(late::get);
		assertThat(patient.isDone()).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "700, io.github.lockspring.LockUnavailableException",
			"100, io.github.lockspring.LockNotAcquiredException" })
	void h16OtherCallersDoNotWaitForAnAttemptThatHangs(long waitTime, Class<LockException> told) {
		asking(request());
		Running<HeldLock> other = waitingBehind(request().waitTime(Duration.ofMillis(waitTime)));
		advance(Duration.ofMillis(waitTime));
		assertThatExceptionOfType(told).isThrownBy(other::get);
	}

	@Test
	void h29RepeatedReleaseIsNoLossIfNoOtherInstanceHasHeldTheLock() {
		HeldLock lock = held(request(), 100);
		this.store.onRelease = (request) -> new ReleaseResult.NotOwner(100);
		lock.close();
		assertThat(events(LockEvent.Lost.class)).isEmpty();
	}

	@Test
	void h29ReleaseThatFindsAYoungerTokenIsALoss() {
		HeldLock lock = held(request(), 100);
		this.store.onRelease = (request) -> new ReleaseResult.NotOwner(101);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close).withMessageContaining("false alarm");
		assertThat(events(LockEvent.Lost.class)).singleElement()
			.satisfies((event) -> assertThat(event.reason()).contains("another owner"));
		lock.close();
	}

	@Test
	void h30MinimumHoldIsNotLongerWhenTheReleaseIsRepeated() {
		HeldLock lock = held(request().minHold(Duration.ofSeconds(10)), 1);
		this.store.onRelease = (request) -> {
			this.time.advance(Duration.ofMillis(500));
			throw new LockUnavailableException("no answer");
		};
		lock.close();
		this.store.answerReleases();
		advance(Duration.ofMillis(500));
		assertThat(this.store.released).extracting((request) -> request.keep().toSeconds()).containsExactly(10L, 9L);
	}

	@Test
	void failureOfACallerThatDoesNotWaitOpensNoInbox() {
		Waiting asking = asking(request().waitTime(Duration.ZERO));
		asking.attempt().fails();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(asking::get);
		assertThat(this.store.inboxOpened).isZero();
	}

}
