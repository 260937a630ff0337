package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A holder passes the lock on to the next caller of the same instance without asking the
 * store, as long as that is fair and safe.
 */
class LocalHandoffTests extends EngineFixture {

	private static final Duration SHARE = Duration.ofNanos(LocalHandoff.MAX_NANOS);

	private static final Duration UNTIL_A_THIRD_IS_LEFT = TTL.minus(DRIFT).minus(TTL.dividedBy(3));

	private static final LockRequest FIXED = LockRequest.of(KEY).ttl(TTL).renew(false).waitTime(Duration.ofMinutes(1));

	private void assertHandedOff(Running<HeldLock> next, long fencingToken) {
		assertThat(next.get().fencingToken()).isEqualTo(fencingToken);
		assertThat(this.store.released).isEmpty();
	}

	/** The lock was released, and the next caller asks with a token of its own. */
	private HeldLock assertReleased(Running<HeldLock> next) {
		assertThat(this.store.released).hasSize(1);
		ScriptedStore.Asked look = this.store.nextLook();
		assertThat(look.token()).isNotEqualTo(this.store.released.get(0).token());
		look.acquired(1000);
		return next.get();
	}

	@Test
	@Tag("h18")
	void handsOffInOrderOfArrivalAndRaisesTheToken() {
		HeldLock lock = held(request(), 10);
		List<Running<HeldLock>> waiting = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			waiting.add(waitingBehind(request()));
		}
		for (int i = 0; i < 4; i++) {
			lock.close();
			assertHandedOff(waiting.get(i), 11 + i);
			lock = waiting.get(i).get();
		}
		lock.close();
		assertThat(this.store.looks).hasSize(1);
		assertThat(this.store.released).singleElement().satisfies((request) -> {
			assertThat(request.token()).isEqualTo(this.store.looks.get(0).token());
			assertThat(request.lastFencingToken()).isEqualTo(14);
		});
		assertNothingLeft();
	}

	@Test
	void releaseWithoutPassesReportsNoToken() {
		held(request(), 10).close();
		assertThat(this.store.released.get(0).lastFencingToken()).isZero();
	}

	@Test
	void earlierHolderThatClosesAgainTouchesNothing() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> second = waitingBehind(request());
		first.close();
		first.close();
		assertHandedOff(second, 11);
		assertThat(second.get().isHeld()).isTrue();
	}

	@Test
	@Tag("h18")
	void handsOffAtMostAThousandTimes() {
		HeldLock lock = held(request(), 10);
		for (int i = 0; i < 1000; i++) {
			Running<HeldLock> next = waitingBehind(request());
			lock.close();
			lock = next.get();
		}
		assertThat(lock.fencingToken()).isEqualTo(1010);
		assertThat(this.store.released).isEmpty();
		Running<HeldLock> last = waitingBehind(request());
		lock.close();
		assertReleased(last);
	}

	@Test
	void h17DoesNotHandOffALeaseOfAnotherLength() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> second = waitingBehind(
				LockRequest.of(KEY).ttl(TTL.plusMillis(1)).waitTime(Duration.ofMinutes(1)));
		first.close();
		assertReleased(second);
	}

	@Test
	void h17DoesNotHandOffALeaseThatWasExtended() {
		HeldLock first = held(request(), 10);
		first.extend(Duration.ofHours(1));
		Running<HeldLock> second = waitingBehind(request());
		first.close();
		assertReleased(second);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void h17HandsOffWhileMoreThanAThirdOfTheLeaseIsLeft(boolean renew) {
		HeldLock first = held(request().renew(renew), 10);
		Running<HeldLock> second = waitingBehind(request().renew(renew));
		this.time.advance(UNTIL_A_THIRD_IS_LEFT.minusNanos(1));
		first.close();
		assertHandedOff(second, 11);
		assertThat(this.store.renewed).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void h17ReleasesWhenAThirdOfTheLeaseIsLeft(boolean renew) {
		HeldLock first = held(request().renew(renew), 10);
		Running<HeldLock> second = waitingBehind(request().renew(renew));
		this.time.advance(UNTIL_A_THIRD_IS_LEFT);
		first.close();
		assertReleased(second);
		assertThat(this.store.renewed).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void h17LeaseThatIsShortAfterALocalHandOffIsLengthenedInTheBackground(boolean renew) {
		HeldLock first = held(request().renew(renew), 10);
		Running<HeldLock> second = waitingBehind(request().renew(renew));
		this.time.advance(TTL.dividedBy(2));
		first.close();
		assertHandedOff(second, 11);
		assertThat(second.get().remaining()).isEqualTo(TTL.dividedBy(2).minus(DRIFT));
		tick();
		runBackground();
		assertThat(second.get().remaining()).isEqualTo(TTL.minus(DRIFT));
		assertThat(this.store.renewed).hasSize(1);
	}

	@Test
	void h17LeaseOfAHandOverIsHandedOffAndRenewedWhenAThirdOfItIsOver() {
		Waiting first = waiting(request(), 100);
		Running<HeldLock> second = waitingBehind(request());
		this.store.messages().granted(KEY, first.attempt().token(), 101, false);
		first.running().get().close();
		assertHandedOff(second, 102);
		assertThat(second.get().remaining()).isLessThan(Duration.ofSeconds(5));
		assertThat(this.store.renewed).isEmpty();
		pass(Duration.ofSeconds(5).dividedBy(3));
		assertThat(second.get().remaining()).isEqualTo(TTL.minus(DRIFT));
	}

	@Test
	void h17FixedHoldThatGotTheLockByLocalHandOffHasNearlyItsFullTtl() {
		HeldLock first = held(FIXED, 10);
		Running<HeldLock> second = waitingBehind(FIXED);
		advance(Duration.ofSeconds(2));
		first.close();
		assertLastsForNearlyItsTtl(second.get());
		assertThat(this.store.renewed).isEmpty();
	}

	private void assertLastsForNearlyItsTtl(HeldLock lock) {
		for (int i = 0; i < 27; i++) {
			pass(Duration.ofSeconds(1));
			assertThat(lock.isHeld()).as("after %s s", i + 1).isTrue();
		}
		pass(Duration.ofSeconds(3));
		assertThat(lock.isHeld()).isFalse();
	}

	@Test
	@Tag("fixed-hold-after-hand-off")
	void h17FixedHoldThatGotTheLockLateInItsLeaseHasNearlyItsFullTtl() {
		HeldLock first = held(FIXED, 10);
		Running<HeldLock> second = waitingBehind(FIXED);
		advance(TTL.dividedBy(2));
		first.close();
		assertLastsForNearlyItsTtl(second.get());
	}

	@Test
	void h30KeepsTheLockForItsMinimumHoldInsteadOfHandingItOff() {
		HeldLock first = held(request().minHold(Duration.ofSeconds(10)), 10);
		Running<HeldLock> second = waitingBehind(request());
		advance(Duration.ofSeconds(4));
		first.close();
		assertThat(this.store.released.get(0).keep()).isBetween(Duration.ofSeconds(6), Duration.ofMillis(6001));
		assertReleased(second);
	}

	@Test
	void h30HandsOffWhenTheMinimumHoldIsOver() {
		HeldLock first = held(request().minHold(Duration.ofSeconds(4)), 10);
		Running<HeldLock> second = waitingBehind(request());
		advance(Duration.ofSeconds(4));
		first.close();
		assertHandedOff(second, 11);
		second.get().close();
		assertThat(this.store.released.get(0).keep()).isZero();
	}

	@Test
	@Tag("h36")
	void handsOffForABoundedTimeOnceOthersAreKnownToWait() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> second = waitingBehind(request());
		this.store.messages().wanted(KEY, token());
		advance(SHARE.minusNanos(1));
		// said again at every look: the time counts from the first one
		this.store.messages().wanted(KEY, token());
		first.close();
		assertHandedOff(second, 11);
		Running<HeldLock> third = waitingBehind(request());
		advance(Duration.ofNanos(1));
		second.get().close();
		assertReleased(third);
	}

	@Test
	void h14HandOverThatSaysThatOthersWaitBeginsTheBoundedTime() {
		Waiting first = waiting(request(), 100);
		Running<HeldLock> second = waitingBehind(request());
		this.store.messages().granted(KEY, first.attempt().token(), 101, true);
		HeldLock lock = first.running().get();
		advance(SHARE);
		lock.close();
		assertReleased(second);
	}

	@Test
	void h14RivalThatRequestsBeforeTheAcquisitionCompletesIsRemembered() {
		Running<HeldLock> first = acquire(request());
		ScriptedStore.Asked look = this.store.nextLook();
		this.store.messages().wanted(KEY, look.token());
		look.acquired(10);
		assertHandsOffOnlyForItsShare(first.get());
	}

	@Test
	void h14RivalOfAnOwnerThatDoesNotKnowThatItOwnsTheLockIsRemembered() {
		Waiting first = waiting(request(), 100);
		this.store.messages().wanted(KEY, first.attempt().token());
		this.store.nextLook().acquired(101);
		assertHandsOffOnlyForItsShare(first.running().get());
	}

	@Test
	void h14HandOverThatArrivesDuringAnAttemptSaysThatOthersWait() {
		Waiting first = waiting(request(), 100);
		advance(Duration.ofSeconds(1));
		ScriptedStore.Asked look = this.store.nextLook();
		this.store.messages().granted(KEY, look.token(), 101, true);
		look.acquired(102);
		assertHandsOffOnlyForItsShare(first.running().get());
	}

	private void assertHandsOffOnlyForItsShare(HeldLock lock) {
		Running<HeldLock> second = waitingBehind(request());
		advance(SHARE.minusNanos(1));
		lock.close();
		assertHandedOff(second, lock.fencingToken() + 1);
		Running<HeldLock> third = waitingBehind(request());
		advance(Duration.ofNanos(1));
		second.get().close();
		assertReleased(third);
	}

	@Test
	void handsOffForALongTimeWhileNoOtherInstanceWaits() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> second = waitingBehind(request());
		advance(Duration.ofSeconds(5));
		first.close();
		assertHandedOff(second, 11);
	}

	@Test
	void h09OwnerThatCannotBeNotifiedAssumesThatOthersWait() {
		this.store.inboxConfirmed = false;
		HeldLock first = held(request(), 10);
		Running<HeldLock> second = waitingBehind(request());
		advance(SHARE.minusNanos(1));
		first.close();
		assertHandedOff(second, 11);
		Running<HeldLock> third = waitingBehind(request());
		advance(Duration.ofNanos(1));
		second.get().close();
		assertReleased(third);
	}

	@Test
	void callerWhoseTimeEndsCostsTheOthersNothing() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> impatient = waitingBehind(request().waitTime(Duration.ofSeconds(1)));
		Running<HeldLock> patient = waitingBehind(request());
		advance(Duration.ofSeconds(1));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(impatient::get);
		first.close();
		assertHandedOff(patient, 11);
	}

	@Test
	void interruptedCallerCostsTheOthersNothing() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> interrupted = waitingBehind(request());
		Running<HeldLock> patient = waitingBehind(request());
		interrupted.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(interrupted::get);
		first.close();
		assertHandedOff(patient, 11);
	}

	@Test
	void lastCallerThatGoesAwayWhileTheLockIsHeldLeavesItToItsHolder() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> impatient = waitingBehind(request().waitTime(Duration.ofSeconds(1)));
		advance(Duration.ofSeconds(1));
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(impatient::get);
		runBackground();
		assertThat(this.store.released).isEmpty();
		first.close();
		assertNothingLeft();
	}

	@Test
	void h08LeaseThatIsOverIsNotHandedOff() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> second = waitingBehind(request());
		this.time.advanceUnnoticed(TTL);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(first::close);
		ScriptedStore.Asked look = this.store.nextLook();
		look.acquired(20);
		assertThat(second.get().fencingToken()).isEqualTo(20);
		runBackground();
		assertThat(this.store.releasedTokens()).containsExactly(this.store.looks.get(0).token());
	}

	@Test
	void stoppingInstanceDoesNotHandOff() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> second = waitingBehind(request());
		this.engine.stopWaiting();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(second::get)
			.withMessageContaining("stopping");
		first.close();
		assertThat(this.store.released).hasSize(1);
		assertNothingLeft();
	}

}
