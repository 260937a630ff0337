package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.store.OwnerToken;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
	private void assertReleased(Running<HeldLock> next) {
		assertThat(this.store.released).hasSize(1);
		ScriptedStore.Asked attempt = this.store.nextLook();
		assertThat(attempt.token()).isNotEqualTo(this.store.released.get(0).token());
		attempt.acquired(1000);
		assertThat(next.get().isHeld()).isTrue();
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
		Running<HeldLock> second = waitingBehind(request().ttl(TTL.plusMillis(1)));
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
		pass(Duration.ZERO);
		assertThat(second.get().remaining()).isEqualTo(TTL.minus(DRIFT));
		assertThat(this.store.renewed).hasSize(1);
	}

	@Test
	void h17LeaseOfAHandOverIsHandedOffAndRenewedWhenAThirdOfItIsOver() {
		Waiting first = waiting(request(), 100);
		Running<HeldLock> second = waitingBehind(request());
		grant(first, 101).close();
		assertHandedOff(second, 102);
		assertThat(second.get().remaining()).isLessThan(Duration.ofSeconds(5));
		assertThat(this.store.renewed).isEmpty();
		pass(Duration.ofSeconds(5).dividedBy(3));
		assertThat(second.get().remaining()).isEqualTo(TTL.minus(DRIFT));
	}

	@ParameterizedTest
	@CsvSource({ "2, 0", "15, 1" })
	@Tag("fixed-hold-after-hand-off")
	void h17FixedHoldThatGotTheLockLateInItsLeaseHasNearlyItsFullTtl(int secondsLate, int renewals) {
		HeldLock first = held(FIXED, 10);
		Running<HeldLock> second = waitingBehind(FIXED);
		advance(Duration.ofSeconds(secondsLate));
		first.close();
		passHeld(second.get(), 27);
		pass(Duration.ofSeconds(3));
		assertThat(second.get().isHeld()).isFalse();
		assertThat(this.store.renewed).hasSize(renewals);
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
		HeldLock lock = held(request(), 10);
		this.store.messages().wanted(KEY, token());
		Duration passed = Duration.ofMillis(5);
		advance(passed);
		// said again at every attempt: the time counts from the first one
		this.store.messages().wanted(KEY, token());
		assertHandsOffOnlyFor(SHARE.minus(passed), lock);
	}

	@Test
	void h14HandOverThatSaysThatOthersWaitBeginsTheBoundedTime() {
		Waiting first = waiting(request(), 100);
		this.store.messages().granted(KEY, first.token(), 101, true);
		assertHandsOffOnlyFor(SHARE, first.get());
	}

	@Test
	void h14RivalThatRequestsBeforeTheAcquisitionCompletesIsRemembered() {
		Waiting first = asking(request());
		this.store.messages().wanted(KEY, first.token());
		first.attempt().acquired(10);
		assertHandsOffOnlyFor(SHARE, first.get());
	}

	@Test
	void h14RivalOfAnOwnerThatDoesNotKnowThatItOwnsTheLockIsRemembered() {
		Waiting first = waiting(request(), 100);
		this.store.messages().wanted(KEY, first.token());
		this.store.nextLook().acquired(101);
		assertHandsOffOnlyFor(SHARE, first.get());
	}

	@Test
	void h14HandOverThatArrivesDuringAnAttemptSaysThatOthersWait() {
		Waiting first = asking(request());
		this.store.messages().granted(KEY, first.token(), 101, true);
		first.attempt().acquired(102);
		assertHandsOffOnlyFor(SHARE, first.get());
	}

	private void assertHandsOffOnlyFor(Duration share, HeldLock lock) {
		Running<HeldLock> second = waitingBehind(request());
		advance(share.minusNanos(1));
		lock.close();
		assertHandedOff(second, lock.fencingToken() + 1);
		Running<HeldLock> third = waitingBehind(request());
		advance(Duration.ofNanos(1));
		second.get().close();
		assertReleased(third);
	}

	@Test
	void h09OwnerThatCannotBeNotifiedAssumesThatOthersWait() {
		this.store.inboxConfirmed = false;
		assertHandsOffOnlyFor(SHARE, held(request(), 10));
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
		OwnerToken lost = token();
		Running<HeldLock> second = waitingBehind(request());
		this.time.advanceUnnoticed(TTL);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(first::close);
		this.store.nextLook().acquired(20);
		assertThat(second.get().fencingToken()).isEqualTo(20);
		assertThat(this.store.releasedTokens()).containsExactly(lost);
	}

}
