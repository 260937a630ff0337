package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

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
		this.store.messages().granted(KEY, waiting.attempt().token(), 101, false);
		HeldLock lock = waiting.running().get();
		Duration drift = GRANT.dividedBy(100).plusMillis(2);
		assertThat(lock.remaining()).isEqualTo(GRANT.minus(drift).minusMillis(900));
	}

	@Test
	void h01GrantThatArrivesWhenItsLeaseIsOverIsNotUsed() {
		Waiting waiting = waiting(request(), 100);
		// the process is stopped: neither the message nor the timer is handled in time
		this.time.advanceUnnoticed(Duration.ofSeconds(6));
		this.store.messages().granted(KEY, waiting.attempt().token(), 101, false);
		ScriptedStore.Asked attempt = this.store.nextLook();
		assertThat(waiting.running().result()).isNotDone();
		attempt.busy(TTL, 102);
		this.time.awaitParked(waiting.running().thread());
		assertThat(waiting.running().result()).isNotDone();
	}

	@Test
	void h02GrantThatArrivesDuringAnAttemptWaitsForItsResult() {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofSeconds(1).plusMillis(100));
		ScriptedStore.Asked second = this.store.nextLook();
		this.store.messages().granted(KEY, second.token(), 101, false);
		assertThat(waiting.running().result()).isNotDone();
		// the answer says that the grant is older than this look
		second.busy(TTL, 101);
		ScriptedStore.Asked third = this.store.nextLook();
		assertThat(waiting.running().result()).isNotDone();
		third.acquired(105);
		assertThat(waiting.running().get().fencingToken()).isEqualTo(105);
	}

	@Test
	void h02GrantThatArrivesDuringAnAttemptIsNotUsedEvenIfItIsYoungerThanTheResult() {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofSeconds(1).plusMillis(100));
		ScriptedStore.Asked second = this.store.nextLook();
		this.store.messages().granted(KEY, second.token(), 103, false);
		second.busy(TTL, 102);
		ScriptedStore.Asked third = this.store.nextLook();
		assertThat(waiting.running().result()).isNotDone();
		third.acquired(103);
		assertThat(waiting.running().get().fencingToken()).isEqualTo(103);
	}

	@Test
	void h02GrantThatArrivesAroundAnAttemptThatFailsCausesAnother() {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofSeconds(1).plusMillis(100));
		ScriptedStore.Asked second = this.store.nextLook();
		this.store.messages().granted(KEY, second.token(), 103, false);
		second.fails();
		this.store.nextLook().fails();
		assertThat(this.store.isAsked()).isFalse();
		this.store.messages().granted(KEY, second.token(), 103, false);
		ScriptedStore.Asked last = this.store.nextLook();
		assertThat(waiting.running().result()).isNotDone();
		last.acquired(104);
		assertThat(waiting.running().get().fencingToken()).isEqualTo(104);
	}

	@Test
	void h03GrantNotNewerThanTheLastAttemptIsStale() {
		Waiting waiting = waiting(request(), 100);
		this.store.messages().granted(KEY, waiting.attempt().token(), 100, false);
		ScriptedStore.Asked attempt = this.store.nextLook();
		assertThat(waiting.running().result()).isNotDone();
		attempt.busy(TTL, 107);
	}

	@Test
	void h04EachOwnershipHasItsOwnToken() {
		HeldLock first = held(request(), 1);
		first.close();
		Running<HeldLock> second = acquire(request());
		ScriptedStore.Asked attempt = this.store.nextLook();
		assertThat(attempt.token()).isNotEqualTo(this.store.released.get(0).token());
		attempt.acquired(2);
		second.get();
	}

	@Test
	void h04LaterAttemptsOfAnOwnershipRepeatItsToken() {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofMillis(1100));
		ScriptedStore.Asked second = this.store.nextLook();
		assertThat(second.token()).isEqualTo(waiting.attempt().token());
		assertThat(waiting.attempt().request().queue()).isTrue();
		assertThat(second.request().queue()).isTrue();
		second.fails();
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
		assertThat(lock.isHeld()).isFalse();
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
		Running<HeldLock> running = acquire(request());
		ScriptedStore.Asked first = this.store.nextLook();
		this.time.advance(TTL.minus(DRIFT));
		first.acquired(1);
		this.time.awaitParked(running.thread());
		assertThat(nextAttempt()).as("a pause").isEqualTo(Duration.ofSeconds(1));
		advance(Duration.ofSeconds(1));
		ScriptedStore.Asked second = this.store.nextLook();
		assertThat(second.token()).isEqualTo(first.token());
		second.acquired(2);
		assertThat(running.get().fencingToken()).isEqualTo(2);
	}

	/** How long it takes to the next attempt, if nothing happens before. */
	private Duration nextAttempt() {
		KeyLock lock = Objects.requireNonNull(this.registry.present(KEY));
		return Duration.ofNanos(lock.due() - this.time.nanoTime());
	}

	@Test
	void h11ReleaseThatNeverArrivedIsRepeated() {
		HeldLock lock = held(request(), 1);
		this.store.onRelease = (request) -> {
			throw new LockUnavailableException("no answer");
		};
		lock.close();
		OwnerToken orphan = token();
		this.store.onRelease = (request) -> new ReleaseResult.Released();
		advance(Duration.ofMillis(499));
		this.store.messages().wanted(KEY, orphan);
		assertThat(this.store.releasedTokens()).as("a message does not hurry it").containsExactly(orphan);
		advance(Duration.ofMillis(1));
		assertThat(this.store.releasedTokens()).containsExactly(orphan, orphan);
		assertNothingKnown();
	}

	@Test
	void h11AcquisitionThatIsCarriedOutAfterItsCallerHasGoneIsReleased() {
		Running<HeldLock> running = acquire(request().waitTime(Duration.ZERO));
		ScriptedStore.Asked attempt = this.store.nextLook();
		attempt.fails();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get);
		assertThat(this.store.releasedTokens()).containsExactly(attempt.token());
		this.store.messages().wanted(KEY, attempt.token());
		assertThat(this.store.releasedTokens()).containsExactly(attempt.token(), attempt.token());
		assertNothingKnown();
	}

	@Test
	void h11HandOverToACallerThatHasGoneIsReleased() {
		Waiting waiting = waiting(request().waitTime(Duration.ofMillis(500)), 100);
		advance(Duration.ofMillis(500));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(waiting.running()::get);
		this.store.messages().granted(KEY, waiting.attempt().token(), 101, false);
		assertThat(this.store.releasedTokens()).containsExactly(waiting.attempt().token(), waiting.attempt().token());
	}

	@Test
	void h11InterruptedCallerReleasesWhatItMayHaveAcquired() {
		ScriptedStore.Asked attempt = interruptedAttempt();
		assertThat(this.store.releasedTokens()).containsExactly(attempt.token());
		assertNothingKnown();
	}

	/** An attempt whose caller has gone before its result. */
	private ScriptedStore.Asked interruptedAttempt() {
		Running<HeldLock> running = acquire(request());
		ScriptedStore.Asked attempt = this.store.nextLook();
		running.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(running::get);
		return attempt;
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
		ScriptedStore.Asked acquiredWithoutQueue = interruptedAttempt();
		acquiredWithoutQueue.acquired(2);
		assertThat(this.store.releasedTokens()).hasSize(7)
			.endsWith(acquiredWithoutQueue.token(), acquiredWithoutQueue.token());
		assertNothingKnown();
	}

	@Test
	void h11LateResultIsFollowedByAnotherReleaseAlsoWhileTheFirstIsOnItsWay() {
		Queue<CompletableFuture<ReleaseResult>> releases = releasesAnsweredLater();
		ScriptedStore.Asked attempt = interruptedAttempt();
		attempt.acquired(1);
		assertThat(this.store.releasedTokens()).containsExactly(attempt.token());
		releases.remove().complete(new ReleaseResult.NotOwner(0));
		assertThat(this.store.releasedTokens()).containsExactly(attempt.token(), attempt.token());
		releases.remove().complete(new ReleaseResult.Released());
		assertNothingKnown();
	}

	private Queue<CompletableFuture<ReleaseResult>> releasesAnsweredLater() {
		Queue<CompletableFuture<ReleaseResult>> releases = new ConcurrentLinkedQueue<>();
		this.store.onReleaseAsync = (request) -> {
			CompletableFuture<ReleaseResult> result = new CompletableFuture<>();
			releases.add(result);
			return result;
		};
		return releases;
	}

	@Test
	void h12RepeatedMessagesAboutALockInUseChangeNothing() {
		Waiting waiting = waiting(request(), 100);
		OwnerToken token = waiting.attempt().token();
		this.store.messages().granted(KEY, token, 101, false);
		HeldLock lock = waiting.running().get();
		this.store.messages().granted(KEY, token, 101, false);
		this.store.messages().wanted(KEY, token);
		assertThat(this.store.released).isEmpty();
		assertThat(lock.isHeld()).isTrue();
	}

	@Test
	void h12MessageAboutATokenWhoseReleaseIsUnderWayIsIgnored() {
		HeldLock lock = held(request(), 1);
		this.store.onRelease = (request) -> {
			if (this.store.released.size() == 1) {
				this.store.messages().wanted(KEY, request.token());
			}
			return new ReleaseResult.Released();
		};
		lock.close();
		assertThat(this.store.released).hasSize(1);
	}

	@Test
	void h12MessageAboutATokenThatIsLeavingTheQueueIsIgnored() {
		Queue<CompletableFuture<ReleaseResult>> releases = releasesAnsweredLater();
		Waiting waiting = waiting(request().waitTime(Duration.ofMillis(500)), 100);
		OwnerToken token = waiting.attempt().token();
		advance(Duration.ofMillis(500));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(waiting.running()::get);
		assertThat(isAnythingKnown()).as("the token is known").isTrue();
		this.store.messages().granted(KEY, token, 101, false);
		assertThat(this.store.releasedTokens()).containsExactly(token);
		releases.remove().complete(new ReleaseResult.Released());
		assertNothingKnown();
	}

	@Test
	void h12MessageAboutALostTokenCausesARelease() {
		held(request(), 1);
		OwnerToken token = token();
		advance(TTL);
		assertThat(this.store.releasedTokens()).containsExactly(token);
		this.store.messages().wanted(KEY, token);
		assertThat(this.store.releasedTokens()).containsExactly(token, token);
		assertNothingKnown();
	}

	@Test
	void h37LostLockIsReleasedAtOnceWithItsLastFencingToken() {
		HeldLock first = held(request(), 1);
		Running<HeldLock> second = waitingBehind(request());
		OwnerToken token = token();
		first.close();
		assertThat(second.get().fencingToken()).isEqualTo(2);
		Queue<CompletableFuture<ReleaseResult>> releases = releasesAnsweredLater();
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
		Waiting waiting = waiting(request(), 100);
		assertThat(this.registry.inboxState()).contains(false);
		this.store.inboxOpen = false;
		assertThat(this.registry.inboxState()).as("closed by itself").isEmpty();
		this.store.inboxConfirmed = true;
		assertThat(this.registry.inboxState()).contains(true);
		waiting.running().thread().interrupt();
	}

	@Test
	void h12MessagesForOtherInstancesAreIgnored() {
		this.store.messages().wanted(KEY, new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", 1, 5000));
		assertThat(this.store.released).isEmpty();
	}

	@Test
	void h13WaiterRetriesWithoutAMessageSinceAGrantMayBeLost() {
		Waiting waiting = waiting(request(), 100);
		assertThat(nextAttempt()).isEqualTo(Duration.ofSeconds(1));
		advance(Duration.ofSeconds(1));
		this.store.nextLook().acquired(101);
		assertThat(waiting.running().get().fencingToken()).isEqualTo(101);
	}

	@Test
	void h13WaiterForALeaseThatIsSoonOverRetriesThen() {
		Running<HeldLock> running = acquire(request());
		this.store.nextLook().busy(Duration.ofMillis(300), 100);
		this.time.awaitParked(running.thread());
		assertThat(nextAttempt()).isBetween(Duration.ofMillis(300), Duration.ofMillis(320));
		advance(Duration.ofMillis(320));
		this.store.nextLook().acquired(101);
		running.get();
	}

	@Test
	void h13WaiterForAKeyWithoutExpiryRetriesAtTheInterval() {
		Running<HeldLock> running = acquire(request());
		this.store.nextLook().answer().complete(new AcquireResult.Busy(-1, 100));
		this.time.awaitParked(running.thread());
		assertThat(nextAttempt()).isEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void h13EveryNewSubscriptionMakesWaitersRetry() {
		Waiting waiting = waiting(request(), 100);
		this.store.messages().opened();
		advance(Duration.ofMillis(50));
		this.store.nextLook().acquired(101);
		assertThat(waiting.running().get().isHeld()).isTrue();
	}

	@Test
	void h13WantedMessageForATokenThatIsStillWaitedForMakesItRetry() {
		Waiting waiting = waiting(request(), 100);
		this.store.messages().wanted(KEY, waiting.attempt().token());
		this.store.nextLook().acquired(101);
		assertThat(waiting.running().get().isHeld()).isTrue();
	}

	@Test
	void h13MessageThatArrivesDuringAnAttemptIsFollowedByAnother() {
		List<BiConsumer<InboxListener, OwnerToken>> messages = List.of((inbox, token) -> inbox.wanted(KEY, token),
				(inbox, token) -> inbox.opened(), (inbox, token) -> inbox.granted(KEY, token, 99, false));
		for (BiConsumer<InboxListener, OwnerToken> message : messages) {
			Waiting waiting = waiting(request(), 100);
			advance(Duration.ofSeconds(1));
			ScriptedStore.Asked second = this.store.nextLook();
			message.accept(this.store.messages(), second.token());
			second.busy(TTL, 100);
			ScriptedStore.Asked third = this.store.nextLook();
			message.accept(this.store.messages(), second.token());
			third.fails();
			this.store.nextLook().acquired(101);
			waiting.running().get().close();
		}
	}

	@Test
	void h09WaiterWithoutConfirmedInboxQueuesWithAShortGrantAfterHalfASecond() {
		this.store.inboxConfirmed = false;
		Running<HeldLock> running = acquire(request());
		ScriptedStore.Asked first = this.store.nextLook();
		assertThat(first.request().queue()).as("the inbox may open yet").isFalse();
		assertThat(first.token().grantMillis()).isEqualTo(5000);
		first.busy(TTL, 100);
		this.time.awaitParked(running.thread());
		assertThat(this.store.inboxOpened).isPositive();
		assertThat(nextAttempt()).isBetween(Duration.ofMillis(50), Duration.ofMillis(500));
		ScriptedStore.Asked second = attemptAfter(Duration.ofMillis(499), first.token());
		assertThat(second.token()).isEqualTo(first.token());
		assertThat(second.request().queue()).as("the inbox may open yet").isFalse();
		second.busy(TTL, 100);
		ScriptedStore.Asked third = attemptAfter(Duration.ofMillis(1), first.token());
		assertThat(this.store.releasedTokens()).containsExactly(first.token());
		assertThat(third.request().queue()).isTrue();
		assertThat(third.token().grantMillis()).isEqualTo(500);
		third.busy(TTL, 100);
		assertThat(nextAttempt()).isEqualTo(Duration.ofMillis(125));
		this.store.inboxConfirmed = true;
		advance(Duration.ofMillis(125));
		ScriptedStore.Asked last = this.store.nextLook();
		assertThat(last.request()).as("until it owns the lock").isEqualTo(third.request());
		last.acquired(101);
		running.get();
	}

	/** Caused by a message, and not by the time. */
	private ScriptedStore.Asked attemptAfter(Duration duration, OwnerToken token) {
		this.time.advance(duration);
		this.store.messages().wanted(KEY, token);
		return this.store.nextLook();
	}

	@Test
	void h09WaiterWhoseInboxIsConfirmedAfterItsFirstAttemptQueues() {
		this.store.inboxConfirmed = false;
		Running<HeldLock> running = acquire(request());
		ScriptedStore.Asked first = this.store.nextLook();
		first.busy(TTL, 100);
		this.time.awaitParked(running.thread());
		this.store.inboxConfirmed = true;
		this.store.messages().opened();
		advance(Duration.ofMillis(50));
		ScriptedStore.Asked second = this.store.nextLook();
		assertThat(first.request().queue()).isFalse();
		assertThat(second.request().queue()).isTrue();
		assertThat(second.token()).isEqualTo(first.token());
		second.acquired(101);
		running.get();
	}

	@Test
	void h09WaiterWhoseInboxIsConfirmedDuringItsAttemptQueuesAtOnce() {
		this.store.inboxConfirmed = false;
		Running<HeldLock> running = acquire(request());
		ScriptedStore.Asked first = this.store.nextLook();
		this.store.inboxConfirmed = true;
		first.busy(TTL, 100);
		ScriptedStore.Asked second = this.store.nextLook();
		assertThat(second.request().queue()).isTrue();
		second.acquired(101);
		running.get();
	}

	@Test
	void h09QueuedWaiterQueuesAnewWithAShortGrantWhenMessagesDoNotArriveForHalfASecond() {
		Waiting waiting = waiting(request(), 100);
		OwnerToken token = waiting.attempt().token();
		this.store.inboxConfirmed = false;
		for (Duration pause : List.of(Duration.ofMillis(900), Duration.ofMillis(499))) {
			ScriptedStore.Asked next = attemptAfter(pause, token);
			assertThat(next.token()).isEqualTo(token);
			assertThat(next.request().queue()).isFalse();
			next.busy(TTL, 100);
		}
		ScriptedStore.Asked last = attemptAfter(Duration.ofMillis(1), token);
		assertThat(this.store.releasedTokens()).containsExactly(token);
		assertThat(last.request().queue()).isTrue();
		assertThat(last.token().grantMillis()).isEqualTo(500);
		last.acquired(101);
		waiting.running().get();
	}

	@Test
	void h09QueuedWaiterKeepsItsPlaceWhenItsInboxIsConfirmedAgainSoon() {
		Waiting waiting = waiting(request(), 100);
		OwnerToken token = waiting.attempt().token();
		for (boolean confirmed : new boolean[] { false, true, false, true, false, true }) {
			this.store.inboxConfirmed = confirmed;
			ScriptedStore.Asked next = attemptAfter(Duration.ofMillis(400), token);
			assertThat(next.token()).isEqualTo(token);
			assertThat(next.request().queue()).isEqualTo(confirmed);
			next.busy(TTL, 100);
		}
		assertThat(this.store.released).isEmpty();
		advance(Duration.ofSeconds(1));
		this.store.nextLook().acquired(101);
		waiting.running().get();
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
		assertThat(hanging.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(hanging::close);
		hanging.close();
		assertThat(this.store.releasedTokens()).containsExactly(lost);
	}

	@Test
	void h16NextCallerTakesOverTheOwnershipOfOneThatGivesUp() {
		Waiting first = waiting(request().waitTime(Duration.ofMillis(500)), 100);
		Running<HeldLock> second = waitingBehind(request());
		advance(Duration.ofMillis(500));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(first.running()::get);
		assertThat(this.store.released).isEmpty();
		this.store.messages().granted(KEY, first.attempt().token(), 101, false);
		assertThat(second.get().fencingToken()).isEqualTo(101);
	}

	@Test
	void h16FailedAttemptEndsNoOtherWait() {
		Running<HeldLock> running = acquire(request());
		this.store.nextLook().fails();
		this.time.awaitParked(running.thread());
		advance(Duration.ofSeconds(1));
		this.store.nextLook().acquired(1);
		assertThat(running.get().isHeld()).isTrue();
	}

	@Test
	void h16CallerWhoseTimeEndsWhileTheStoreDoesNotReplyLearnsThat() {
		Running<HeldLock> running = acquire(request().waitTime(Duration.ofMillis(700)));
		this.store.nextLook().fails();
		advance(Duration.ofMillis(700));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get)
			.withMessageContaining(KEY)
			.havingCause()
			.withMessageContaining("no answer");
	}

	@Test
	@Tag("lock-without-wait-time")
	void h16CallerWithoutAWaitTimeLearnsBehindAnotherOneThatTheStoreDoesNotReply() {
		Running<HeldLock> patient = acquire(request());
		ScriptedStore.Asked attempt = this.store.nextLook();
		this.time.awaitParked(patient.thread());
		Running<Boolean> slow = lock();
		Running<Boolean> late = lock();
		for (int i = 0; i < 5; i++) {
			attempt.fails();
			assertThat(List.of(slow.result(), late.result())).noneMatch(CompletableFuture::isDone);
			advance(Duration.ofSeconds(1));
			attempt = this.store.nextLook();
		}
		attempt.fails();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(slow::get);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(late::get);
		assertThat(patient.result()).isNotDone();
		advance(Duration.ofSeconds(1));
		this.store.nextLook().acquired(1);
		patient.get();
	}

	private Running<Boolean> lock() {
		Running<Boolean> running = start(() -> {
			this.engine.template().asLock(KEY).lock();
			return true;
		});
		this.time.awaitParked(running.thread());
		return running;
	}

	@Test
	void h16OtherCallersDoNotWaitForAnAttemptThatHangs() {
		Running<HeldLock> looker = acquire(request());
		ScriptedStore.Asked hanging = this.store.nextLook();
		Running<HeldLock> other = acquire(request().waitTime(Duration.ofMillis(700)));
		this.time.awaitParked(other.thread());
		advance(Duration.ofMillis(700));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(other::get);
		hanging.acquired(1);
		looker.get();
	}

	@Test
	void h16OtherCallerWhoseTimeEndsBeforeAResultCanBeExpectedIsBusy() {
		Running<HeldLock> looker = acquire(request());
		ScriptedStore.Asked attempt = this.store.nextLook();
		Running<HeldLock> other = acquire(request().waitTime(Duration.ofMillis(100)));
		this.time.awaitParked(other.thread());
		advance(Duration.ofMillis(100));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(other::get);
		attempt.acquired(1);
		looker.get();
	}

	@Test
	void h29RepeatedReleaseIsNoLossIfNoOtherInstanceHasHeldTheLock() {
		HeldLock lock = held(request(), 100);
		this.store.onRelease = (request) -> new ReleaseResult.NotOwner(100);
		lock.close();
		assertThat(events(LockEvent.Lost.class)).isEmpty();
	}

	@Test
	void h09WaiterForAShortLeaseQueuesWithoutAnInbox() {
		this.store.inboxConfirmed = false;
		Running<HeldLock> running = acquire(
				LockRequest.of(KEY).ttl(Duration.ofMillis(500)).waitTime(Duration.ofMinutes(1)));
		ScriptedStore.Asked first = this.store.nextLook();
		assertThat(first.request().queue()).isTrue();
		first.busy(Duration.ofMinutes(1), 100);
		this.time.awaitParked(running.thread());
		assertThat(nextAttempt()).isEqualTo(Duration.ofMillis(125));
		ScriptedStore.Asked later = attemptAfter(Duration.ofSeconds(1), first.token());
		assertThat(later.request()).isEqualTo(first.request());
		later.acquired(101);
		running.get();
	}

	@Test
	void h30MinimumHoldIsNotLongerWhenTheReleaseIsRepeated() {
		HeldLock lock = held(request().minHold(Duration.ofSeconds(10)), 1);
		this.store.onRelease = (request) -> {
			this.time.advance(Duration.ofMillis(500));
			throw new LockUnavailableException("no answer");
		};
		lock.close();
		this.store.onRelease = (request) -> new ReleaseResult.Released();
		advance(Duration.ofMillis(500));
		assertThat(this.store.released).extracting((request) -> request.keep().toSeconds()).containsExactly(10L, 9L);
	}

	@Test
	void failureOfACallerThatDoesNotWaitOpensNoInbox() {
		Running<HeldLock> running = acquire(request().waitTime(Duration.ZERO));
		this.store.nextLook().fails();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get);
		assertThat(this.store.inboxOpened).isZero();
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

}
