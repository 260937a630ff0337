package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest.QueueMode;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
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
		ScriptedStore.Asked look = this.store.nextLook();
		assertThat(waiting.running().result()).isNotDone();
		look.busy(TTL, 102);
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
	void h02GrantThatArrivesDuringAnAttemptIsUsedWhenTheResultShowsItIsYounger() {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofSeconds(1).plusMillis(100));
		ScriptedStore.Asked second = this.store.nextLook();
		this.store.messages().granted(KEY, second.token(), 103, false);
		second.busy(TTL, 102);
		assertThat(waiting.running().get().fencingToken()).isEqualTo(103);
	}

	@Test
	void h02GrantThatArrivesDuringAnAttemptThatFailsCountsFromTheLastCompletedOne() {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofSeconds(1).plusMillis(100));
		ScriptedStore.Asked second = this.store.nextLook();
		this.store.messages().granted(KEY, second.token(), 103, false);
		second.fails();
		HeldLock lock = waiting.running().get();
		Duration drift = GRANT.dividedBy(100).plusMillis(2);
		assertThat(lock.remaining()).isEqualTo(GRANT.minus(drift).minusMillis(1100));
	}

	@Test
	void h03GrantNotNewerThanTheLastAttemptIsStale() {
		Waiting waiting = waiting(request(), 100);
		this.store.messages().granted(KEY, waiting.attempt().token(), 100, false);
		ScriptedStore.Asked look = this.store.nextLook();
		assertThat(waiting.running().result()).isNotDone();
		look.busy(TTL, 107);
	}

	@Test
	void h04EachOwnershipHasItsOwnToken() {
		HeldLock first = held(request(), 1);
		first.close();
		Running<HeldLock> second = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		assertThat(look.token()).isNotEqualTo(this.store.released.get(0).token());
		look.acquired(2);
		second.get();
	}

	@Test
	void h04LaterAttemptsOfAnOwnershipRepeatItsToken() {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofMillis(1100));
		ScriptedStore.Asked second = this.store.nextLook();
		assertThat(second.token()).isEqualTo(waiting.attempt().token());
		assertThat(waiting.attempt().request().queueMode()).isEqualTo(QueueMode.JOIN);
		assertThat(second.request().queueMode()).isEqualTo(QueueMode.REJOIN);
		second.fails();
	}

	@Test
	void h06ResultOfARenewalDoesNotReviveALeaseThatIsOver() {
		HeldLock lock = held(request(), 1);
		advance(Duration.ofSeconds(10));
		tick();
		this.store.onRenew = (request) -> {
			// the answer takes longer than the lease lasts
			advance(Duration.ofSeconds(20));
			return RenewResult.RENEWED;
		};
		runBackground();
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
		advance(TTL.minus(DRIFT));
		first.acquired(1);
		ScriptedStore.Asked second = this.store.nextLook();
		assertThat(running.result()).isNotDone();
		assertThat(second.token()).isEqualTo(first.token());
		second.acquired(2);
		assertThat(running.get().fencingToken()).isEqualTo(2);
	}

	@Test
	void h08SecondResultThatArrivesTooLateIsFollowedByAPause() {
		Running<HeldLock> running = acquire(request().waitTime(Duration.ofHours(1)));
		for (int i = 0; i < 2; i++) {
			ScriptedStore.Asked look = this.store.nextLook();
			advance(TTL);
			look.acquired(i);
		}
		assertThat(this.time.awaitParked(running.thread())).isEqualTo(Duration.ofSeconds(1));
	}

	@Test
	void h11ReleaseThatNeverArrivedIsRepeatedWhenAnotherWaits() {
		HeldLock lock = held(request(), 1);
		this.store.onRelease = (request) -> {
			throw new LockUnavailableException("no answer");
		};
		lock.close();
		OwnerToken orphan = this.store.released.get(0).token();
		this.store.onRelease = (request) -> new ReleaseResult.Released();
		this.store.messages().wanted(KEY, orphan);
		runBackground();
		assertThat(this.store.releasedTokens()).containsExactly(orphan, orphan);
	}

	@Test
	void h11AcquisitionThatIsCarriedOutAfterItsCallerHasGoneIsReleased() {
		Running<HeldLock> running = acquire(request().waitTime(Duration.ZERO));
		ScriptedStore.Asked look = this.store.nextLook();
		look.fails();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get);
		runBackground();
		assertThat(this.store.releasedTokens()).containsExactly(look.token());
		this.store.messages().wanted(KEY, look.token());
		runBackground();
		assertThat(this.store.releasedTokens()).containsExactly(look.token(), look.token());
		assertNothingKnown();
	}

	@Test
	void h11HandOverToACallerThatHasGoneIsReleased() {
		Waiting waiting = waiting(request().waitTime(Duration.ofMillis(500)), 100);
		advance(Duration.ofMillis(500));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(waiting.running()::get);
		runBackground();
		this.store.messages().granted(KEY, waiting.attempt().token(), 101, false);
		runBackground();
		assertThat(this.store.releasedTokens()).containsExactly(waiting.attempt().token(), waiting.attempt().token());
	}

	@Test
	void h11InterruptedCallerReleasesWhatItMayHaveAcquired() {
		Running<HeldLock> running = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		running.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(running::get);
		runBackground();
		assertThat(this.store.releasedTokens()).containsExactly(look.token());
		assertNothingKnown();
	}

	@Test
	void h12RepeatedMessagesAboutALockInUseChangeNothing() {
		Waiting waiting = waiting(request(), 100);
		OwnerToken token = waiting.attempt().token();
		this.store.messages().granted(KEY, token, 101, false);
		HeldLock lock = waiting.running().get();
		this.store.messages().granted(KEY, token, 101, false);
		this.store.messages().wanted(KEY, token);
		runBackground();
		assertThat(this.store.released).isEmpty();
		assertThat(lock.isHeld()).isTrue();
	}

	@Test
	void h12MessageAboutATokenWhoseReleaseIsUnderWayIsIgnored() {
		HeldLock lock = held(request(), 1);
		this.store.onRelease = (request) -> {
			if (this.store.released.size() == 1) {
				this.store.messages().wanted(KEY, request.token());
				runBackground();
			}
			return new ReleaseResult.Released();
		};
		lock.close();
		assertThat(this.store.released).hasSize(1);
	}

	@Test
	void h12MessageAboutATokenThatIsLeavingTheQueueIsIgnored() {
		Waiting waiting = waiting(request().waitTime(Duration.ofMillis(500)), 100);
		OwnerToken token = waiting.attempt().token();
		this.store.onRelease = (request) -> {
			if (this.store.released.size() == 1) {
				this.store.messages().granted(KEY, token, 101, false);
			}
			return new ReleaseResult.Released();
		};
		advance(Duration.ofMillis(500));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(waiting.running()::get);
		assertThat(isAnythingKnown()).as("the token is known").isTrue();
		runBackground();
		assertThat(this.store.releasedTokens()).containsExactly(token);
	}

	@Test
	void h12MessageAboutALostTokenCausesARelease() {
		held(request(), 1);
		OwnerToken token = token();
		advance(TTL);
		tick();
		this.store.messages().wanted(KEY, token);
		runBackground();
		assertThat(this.store.releasedTokens()).containsExactly(token);
	}

	@Test
	void h37LostLockIsReleasedAtOnceWithItsLastFencingToken() {
		HeldLock first = held(request(), 1);
		Running<HeldLock> second = acquire(request());
		this.time.awaitParked(second.thread());
		OwnerToken token = token();
		first.close();
		assertThat(second.get().fencingToken()).isEqualTo(2);
		advance(TTL);
		tick();
		this.store.messages().wanted(KEY, token);
		runBackground();
		assertThat(this.store.released).as("at once, and not again because of the message")
			.extracting(ReleaseRequest::token, ReleaseRequest::lastFencingToken)
			.containsExactly(tuple(token, 2L));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(second.get()::close);
		runBackground();
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
		runBackground();
		assertThat(this.store.released).isEmpty();
	}

	@Test
	void h13WaiterRetriesWithoutAMessageSinceAGrantMayBeLost() {
		Waiting waiting = waiting(request(), 100);
		assertThat(this.time.awaitParked(waiting.running().thread())).isLessThanOrEqualTo(Duration.ofSeconds(1));
		advance(Duration.ofSeconds(1));
		this.store.nextLook().acquired(101);
		assertThat(waiting.running().get().fencingToken()).isEqualTo(101);
	}

	@Test
	void h13WaiterForALeaseThatIsSoonOverRetriesThen() {
		Running<HeldLock> running = acquire(request());
		this.store.nextLook().busy(Duration.ofMillis(300), 100);
		assertThat(this.time.awaitParked(running.thread())).isBetween(Duration.ofMillis(300), Duration.ofMillis(320));
	}

	@Test
	void h13WaiterForAKeyWithoutExpiryRetriesAtTheInterval() {
		Running<HeldLock> running = acquire(request());
		this.store.nextLook().answer().complete(new AcquireResult.Busy(-1, 100));
		assertThat(this.time.awaitParked(running.thread())).isEqualTo(Duration.ofSeconds(1));
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
	void h09WaiterWithoutConfirmedInboxPollsAfterHalfASecond() {
		this.store.inboxConfirmed = false;
		Running<HeldLock> running = acquire(request());
		ScriptedStore.Asked first = this.store.nextLook();
		assertThat(first.request().queueMode()).isEqualTo(QueueMode.NONE);
		first.busy(TTL, 100);
		for (int i = 0; i < 3; i++) {
			assertThat(this.time.awaitParked(running.thread())).isBetween(Duration.ofMillis(50),
					Duration.ofMillis(150));
			advance(Duration.ofMillis(150));
			ScriptedStore.Asked next = this.store.nextLook();
			assertThat(next.request().queueMode()).as("the inbox may open yet").isEqualTo(QueueMode.NONE);
			next.busy(TTL, 100);
		}
		for (int i = 0; i < 10; i++) {
			assertThat(this.time.awaitParked(running.thread())).isBetween(Duration.ofMillis(50),
					Duration.ofMillis(150));
			assertThat(this.store.inboxOpened).isPositive();
			advance(Duration.ofMillis(150));
			ScriptedStore.Asked next = this.store.nextLook();
			assertThat(next.request().queueMode()).isEqualTo(QueueMode.POLL);
			this.store.inboxConfirmed = i > 5;
			next.busy(TTL, 100);
		}
		this.time.awaitParked(running.thread());
		advance(Duration.ofMillis(150));
		ScriptedStore.Asked last = this.store.nextLook();
		assertThat(last.request().queueMode()).as("until it owns the lock").isEqualTo(QueueMode.POLL);
		last.answer().complete(new AcquireResult.Acquired(101, true));
		running.get();
		assertThat(this.store.inboxDoubted).isZero();
	}

	@Test
	void h09WaiterWhoseInboxIsConfirmedAfterItsFirstAttemptQueues() {
		this.store.inboxConfirmed = false;
		Running<HeldLock> running = acquire(request());
		this.store.nextLook().busy(TTL, 100);
		this.time.awaitParked(running.thread());
		this.store.inboxConfirmed = true;
		this.store.messages().opened();
		advance(Duration.ofMillis(50));
		ScriptedStore.Asked second = this.store.nextLook();
		assertThat(second.request().queueMode()).isEqualTo(QueueMode.JOIN);
		second.acquired(101);
		running.get();
	}

	@Test
	void h09QueuedWaiterPollsWhileMessagesMayNotArrive() {
		Waiting waiting = waiting(request(), 100);
		this.store.inboxConfirmed = false;
		advance(Duration.ofSeconds(1));
		for (QueueMode mode : List.of(QueueMode.REJOIN, QueueMode.POLL, QueueMode.POLL)) {
			ScriptedStore.Asked next = this.store.nextLook();
			assertThat(next.request().queueMode()).isEqualTo(mode);
			next.busy(TTL, 100);
			assertThat(this.time.awaitParked(waiting.running().thread())).isLessThanOrEqualTo(Duration.ofMillis(150));
			advance(Duration.ofMillis(150));
		}
		this.store.nextLook().acquired(101);
		waiting.running().get();
	}

	@Test
	void h09QueuedWaiterDoesNotPollBecauseOfOneProbe() {
		Waiting waiting = waiting(request(), 100);
		for (boolean confirmed : new boolean[] { false, true, false, true, false, true }) {
			this.store.inboxConfirmed = confirmed;
			advance(confirmed ? Duration.ofMillis(150) : Duration.ofSeconds(1));
			ScriptedStore.Asked next = this.store.nextLook();
			assertThat(next.request().queueMode()).isEqualTo(QueueMode.REJOIN);
			next.busy(TTL, 100);
			this.time.awaitParked(waiting.running().thread());
		}
		advance(Duration.ofSeconds(1));
		this.store.nextLook().acquired(101);
		waiting.running().get();
	}

	@Test
	void f24GrantThatOnlyAnAttemptFindsMakesItProbeItsInbox() {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofSeconds(1));
		this.store.nextLook().answer().complete(new AcquireResult.Acquired(101, true));
		waiting.running().get();
		assertThat(this.store.inboxDoubted).isEqualTo(1);
	}

	@Test
	void f24InboxIsProbedOutsideOfTheMonitor() {
		Waiting waiting = waiting(request(), 100);
		List<Running<?>> others = new ArrayList<>();
		this.store.onProbe = () -> {
			Running<?> other = start(() -> {
				wakeWaiters();
				return true;
			});
			others.add(other);
			other.get();
		};
		advance(Duration.ofSeconds(1));
		this.store.nextLook().answer().complete(new AcquireResult.Acquired(101, true));
		waiting.running().get();
		assertThat(others).singleElement().satisfies((other) -> assertThat(other.result()).isCompleted());
	}

	@Test
	void f24WaiterThatHasFallenOutOfTheQueueProbesItsInbox() {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofSeconds(1));
		this.store.nextLook().answer().complete(new AcquireResult.Busy(TTL.toMillis(), 100, true));
		this.time.awaitParked(waiting.running().thread());
		assertThat(this.store.inboxDoubted).isEqualTo(1);
		advance(Duration.ofSeconds(1));
		this.store.nextLook().answer().complete(new AcquireResult.Acquired(101));
		waiting.running().get();
		assertThat(this.store.inboxDoubted).as("a lock that was free").isEqualTo(1);
	}

	@Test
	void f24AttemptThatAMessageCallsForIsNoReasonToProbe() {
		Waiting waiting = waiting(request(), 100);
		this.store.messages().wanted(KEY, waiting.attempt().token());
		this.store.nextLook().answer().complete(new AcquireResult.Acquired(101, true));
		waiting.running().get().close();
		Waiting second = waiting(request(), 102);
		advance(Duration.ofSeconds(1));
		ScriptedStore.Asked look = this.store.nextLook();
		this.store.messages().granted(KEY, look.token(), 103, false);
		look.answer().complete(new AcquireResult.Acquired(104, true));
		second.running().get().close();
		assertThat(this.store.inboxDoubted).isZero();
	}

	@Test
	void h15WaiterDoesNotWaitForALocalHolderWhoseLeaseIsOver() {
		HeldLock hanging = held(request(), 1);
		OwnerToken lost = token();
		Running<HeldLock> second = acquire(request());
		this.time.awaitParked(second.thread());
		advance(TTL);
		ScriptedStore.Asked look = this.store.nextLook();
		assertThat(look.token()).isNotEqualTo(lost);
		look.acquired(2);
		assertThat(second.get().fencingToken()).isEqualTo(2);
		assertThat(hanging.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(hanging::close);
		hanging.close();
		runBackground();
		assertThat(this.store.releasedTokens()).containsExactly(lost);
	}

	@Test
	void h16NextCallerTakesOverTheOwnershipOfOneThatGivesUp() {
		Waiting first = waiting(request().waitTime(Duration.ofMillis(500)), 100);
		Running<HeldLock> second = acquire(request());
		this.time.awaitParked(second.thread());
		advance(Duration.ofMillis(500));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(first.running()::get);
		runBackground();
		assertThat(this.store.released).isEmpty();
		this.store.messages().granted(KEY, first.attempt().token(), 101, false);
		assertThat(second.get().fencingToken()).isEqualTo(101);
	}

	@Test
	void h16FailedAttemptEndsNoOtherWait() {
		Running<HeldLock> running = acquire(request());
		this.store.nextLook().fails();
		this.time.awaitParked(running.thread());
		assertThat(this.store.inboxDoubted).isEqualTo(1);
		advance(Duration.ofSeconds(2));
		this.store.nextLook().acquired(1);
		assertThat(running.get().isHeld()).isTrue();
	}

	@Test
	void h16CallerWhoseTimeEndsWhileTheStoreDoesNotReplyLearnsThat() {
		Running<HeldLock> running = acquire(request().waitTime(Duration.ofMillis(700)));
		this.store.nextLook().fails();
		advance(Duration.ofMillis(700));
		this.store.inboxConfirmed = true;
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(running::get)
			.withMessageContaining(KEY)
			.havingCause()
			.withMessageContaining("no answer");
	}

	@Test
	void h16CallerWithoutAWaitTimeLearnsBehindAnotherOneThatTheStoreDoesNotReply() {
		Running<HeldLock> patient = acquire(request());
		ScriptedStore.Asked attempt = this.store.nextLook();
		Running<Boolean> slow = lock();
		Running<Boolean> late = lock();
		advance(Duration.ofMillis(300));
		attempt.fails();
		this.time.awaitParked(patient.thread());
		assertThat(this.time.awaitParked(slow.thread())).isEqualTo(Duration.ofMillis(4700));
		advance(Duration.ofMillis(4700));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(slow::get);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(late::get);
		this.store.nextLook().fails();
		this.time.awaitParked(patient.thread());
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
		ScriptedStore.Asked look = this.store.nextLook();
		Running<HeldLock> other = acquire(request().waitTime(Duration.ofMillis(100)));
		this.time.awaitParked(other.thread());
		advance(Duration.ofMillis(100));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(other::get);
		look.acquired(1);
		looker.get();
	}

	@Test
	void h29RepeatedReleaseIsNoLossIfNoOtherInstanceHasHeldTheLock() {
		HeldLock lock = held(request(), 100);
		this.store.onRelease = (request) -> new ReleaseResult.NotOwner(100);
		lock.close();
		assertThat(this.events).noneMatch(io.github.lockspring.LockEvent.Lost.class::isInstance);
	}

	@Test
	void f24QueuedWaiterThatDoubtsItsMessagesRetriesAtLeastAsOftenAsOthers() {
		LockRequest shortLease = LockRequest.of(KEY).ttl(Duration.ofMillis(400)).waitTime(Duration.ofMinutes(1));
		for (int i = 0; i < 20; i++) {
			Running<HeldLock> running = acquire(shortLease);
			ScriptedStore.Asked look = this.store.nextLook();
			this.store.inboxConfirmed = false;
			look.busy(Duration.ofMinutes(1), 100);
			assertThat(this.time.awaitParked(running.thread())).isLessThanOrEqualTo(Duration.ofMillis(100));
			this.store.inboxConfirmed = true;
			running.thread().interrupt();
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(running::get);
			runBackground();
		}
	}

	@Test
	void f24WaiterThatHasMissedAMessageTriesAgainSoon() {
		Waiting waiting = waiting(request(), 100);
		advance(Duration.ofMillis(1100));
		ScriptedStore.Asked look = this.store.nextLook();
		look.answer().complete(new AcquireResult.Busy(TTL.toMillis(), 100, true));
		assertThat(this.time.awaitParked(waiting.running().thread())).isLessThanOrEqualTo(Duration.ofMillis(150));
		assertThat(this.store.inboxDoubted).isEqualTo(1);
		advance(Duration.ofMillis(150));
		this.store.nextLook().acquired(101);
		waiting.running().get();
	}

	@Test
	void h30MinimumHoldIsNotLongerWhenTheReleaseIsRepeated() {
		HeldLock lock = held(request().minHold(Duration.ofSeconds(10)), 1);
		this.store.onRelease = (request) -> {
			advance(Duration.ofSeconds(2));
			throw new LockUnavailableException("no answer");
		};
		lock.close();
		this.store.onRelease = (request) -> new ReleaseResult.Released();
		runBackground();
		assertThat(this.store.released).extracting((request) -> request.keep().toSeconds()).containsExactly(10L, 8L);
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
		assertThat(events(io.github.lockspring.LockEvent.Lost.class)).singleElement()
			.satisfies((event) -> assertThat(event.reason()).contains("another owner"));
		lock.close();
	}

	@Test
	void f24LockThatALeavingWaiterOwnsWithoutAMessageMakesItProbeItsInbox() {
		this.store.onRelease = (request) -> ReleaseResult.NotOwner.of(0, 1);
		leave();
		assertThat(this.store.inboxDoubted).isZero();
		this.store.onRelease = (request) -> {
			this.store.messages().granted(KEY, request.token(), 101, false);
			return new ReleaseResult.Released();
		};
		leave();
		assertThat(this.store.inboxDoubted).isZero();
		this.store.onRelease = (request) -> new ReleaseResult.Released();
		leave();
		assertThat(this.store.inboxDoubted).isEqualTo(1);
		this.store.inboxConfirmed = false;
		leave();
		assertThat(this.store.inboxDoubted).isEqualTo(1);
	}

	/** A caller waits in vain. */
	private void leave() {
		Waiting waiting = waiting(request().waitTime(Duration.ofMillis(40)), 100);
		advance(Duration.ofMillis(40));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(waiting.running()::get);
		runBackground();
		assertNothingKnown();
	}

}
