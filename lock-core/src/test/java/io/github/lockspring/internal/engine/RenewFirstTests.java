package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A lease with too little time left is renewed by the next caller of the same instance
 * before the lock is passed on to it.
 */
class RenewFirstTests extends EngineFixture {

	private static final LockRequest FIXED = LockRequest.of(KEY).ttl(TTL).renew(false).waitTime(Duration.ofMinutes(1));

	/** A little less than half of the lease is left after it. */
	private static final Duration TOO_LONG = TTL.minus(DRIFT).minus(TTL.dividedBy(2)).plusNanos(1);

	private final CountDownLatch asked = new CountDownLatch(1);

	private final CompletableFuture<RenewResult> answer = new CompletableFuture<>();

	/** A caller whose renewal is under way; the test answers it. */
	private Running<HeldLock> renewing(LockRequest request) throws InterruptedException {
		this.store.onRenew = (renewal) -> {
			this.asked.countDown();
			return answered();
		};
		HeldLock first = held(request, 10);
		Running<HeldLock> second = waitingBehind(request);
		advance(TOO_LONG);
		first.close();
		this.asked.await();
		return second;
	}

	private RenewResult answered() {
		try {
			return this.answer.join();
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof Error error) {
				throw error;
			}
			throw (RuntimeException) ex.getCause();
		}
	}

	private HeldLock acquiresAnew(Running<HeldLock> caller) {
		ScriptedStore.Asked look = this.store.nextLook();
		assertThat(look.token()).isNotEqualTo(this.store.looks.get(0).token());
		look.acquired(1000);
		return caller.get();
	}

	@Test
	void h17RenewsForARenewedHoldWhenLessThanHalfOfTheLeaseIsLeft() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> second = waitingBehind(request());
		advance(TOO_LONG);
		first.close();
		assertThat(second.get().fencingToken()).isEqualTo(11);
		assertThat(second.get().remaining()).isEqualTo(TTL.minus(DRIFT));
		assertThat(this.store.renewed).singleElement().satisfies((requests) -> {
			assertThat(requests).singleElement()
				.satisfies((request) -> assertThat(request.ttl()).isEqualTo(TTL))
				.satisfies((request) -> assertThat(request.token()).isEqualTo(this.store.looks.get(0).token()));
		});
		assertThat(this.store.looks).hasSize(1);
		second.get().close();
		assertThat(this.store.released).singleElement()
			.satisfies((request) -> assertThat(request.lastFencingToken()).isEqualTo(11));
		assertNothingLeft();
	}

	@Test
	void h17RenewsForAFixedHoldWhenATenthOfTheLeaseIsGone() {
		HeldLock first = held(FIXED, 10);
		Running<HeldLock> second = waitingBehind(FIXED);
		Running<HeldLock> third = waitingBehind(FIXED);
		advance(Duration.ofSeconds(3));
		first.close();
		assertThat(second.get().remaining()).isEqualTo(TTL.minus(DRIFT));
		advance(Duration.ofSeconds(2));
		second.get().close();
		assertThat(third.get().fencingToken()).isEqualTo(12);
		assertThat(this.store.renewed).hasSize(1);
		pass(TTL.minus(DRIFT).minusSeconds(2));
		assertThat(third.get().isHeld()).as("its lease is not renewed").isFalse();
	}

	@Test
	void grantedLeaseIsRenewedOnceAndThenHandedOff() {
		Waiting first = waiting(request(), 100);
		Running<HeldLock> second = waitingBehind(request());
		Running<HeldLock> third = waitingBehind(request());
		this.store.messages().granted(KEY, first.attempt().token(), 101, false);
		first.running().get().close();
		assertThat(second.get().fencingToken()).isEqualTo(102);
		second.get().close();
		assertThat(third.get().fencingToken()).isEqualTo(103);
		assertThat(this.store.renewed).hasSize(1);
		assertThat(this.store.released).isEmpty();
	}

	@Test
	void h17GrantedLeaseIsRenewedDuringTheFirstHoldIfAnotherCallerWaits() {
		Waiting first = waiting(request(), 100);
		Running<HeldLock> second = waitingBehind(request());
		this.store.messages().granted(KEY, first.attempt().token(), 101, false);
		assertThat(first.running().get().remaining()).isLessThan(TTL.dividedBy(2));
		pass(Duration.ofMillis(1));
		assertThat(this.store.renewed).hasSize(1);
		first.running().get().close();
		assertThat(second.get().fencingToken()).isEqualTo(102);
		assertThat(second.get().remaining()).isEqualTo(TTL.minus(DRIFT));
		assertThat(this.store.renewed).hasSize(1);
	}

	@Test
	void grantedLeaseIsNotRenewedAtOnceForASingleCaller() {
		Waiting first = waiting(request(), 100);
		this.store.messages().granted(KEY, first.attempt().token(), 101, false);
		assertThat(first.running().get().isHeld()).isTrue();
		pass(Duration.ofMillis(1));
		assertThat(this.store.renewed).isEmpty();
	}

	@Test
	void f10NextCallerRequestsAnewWhenTheStoreSaysThatTheLeaseIsGone() throws InterruptedException {
		Running<HeldLock> second = renewing(request());
		this.answer.complete(RenewResult.NOT_OWNER);
		assertThat(acquiresAnew(second).fencingToken()).isEqualTo(1000);
		assertThat(events(LockEvent.Lost.class)).as("no holder lost it").isEmpty();
		second.get().close();
		assertNothingLeft();
	}

	@Test
	void h06ResultThatArrivesAfterTheDeadlineRevivesNothing() throws InterruptedException {
		Running<HeldLock> second = renewing(request());
		this.time.advanceUnnoticed(TTL);
		this.answer.complete(RenewResult.RENEWED);
		assertThat(acquiresAnew(second).fencingToken()).isEqualTo(1000);
		runBackground();
		assertThat(this.store.releasedTokens()).as("the renewal was carried out")
			.containsExactly(this.store.looks.get(0).token());
	}

	@Test
	void h17CallerWithAnotherTtlThatTakesOverDoesNotGetTheLease() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> impatient = waitingBehind(request().waitTime(TOO_LONG));
		Running<HeldLock> other = waitingBehind(
				LockRequest.of(KEY).ttl(TTL.dividedBy(2)).waitTime(Duration.ofMinutes(1)));
		this.time.advanceUnnoticed(TOO_LONG);
		first.close();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(impatient::get);
		this.time.awaitParked(other.thread());
		runBackground();
		assertThat(acquiresAnew(other).fencingToken()).isEqualTo(1000);
		assertThat(this.store.renewed).isEmpty();
	}

	@Test
	void h15OthersDoNotWaitForARenewalBeyondTheDeadline() throws InterruptedException {
		Running<HeldLock> second = renewing(request());
		Running<HeldLock> third = waitingBehind(request());
		Ownership lost = ownership(KEY);
		advance(TTL);
		this.time.awaitParked(third.thread());
		assertThat(lost.state()).isEqualTo(Ownership.State.LOST);
		this.answer.complete(RenewResult.RENEWED);
		assertThat(acquiresAnew(second).fencingToken()).isEqualTo(1000);
	}

	@Test
	void f22NextCallerRequestsAnewWhenTheRenewalFails() throws InterruptedException {
		Running<HeldLock> second = renewing(request());
		this.answer.complete(RenewResult.UNKNOWN);
		this.time.awaitParked(second.thread());
		runBackground();
		assertThat(acquiresAnew(second).fencingToken()).isEqualTo(1000);
		assertThat(this.store.released).singleElement()
			.satisfies((request) -> assertThat(request.token()).isEqualTo(this.store.looks.get(0).token()));
		second.get().close();
		assertNothingLeft();
	}

	@Test
	void f22CallerWhoseTimeEndsAfterAFailedRenewalLearnsThatTheStoreIsUnavailable() throws InterruptedException {
		Running<HeldLock> second = renewing(request());
		this.answer.completeExceptionally(new LockUnavailableException("gone away"));
		this.time.awaitParked(second.thread());
		advance(Duration.ofMinutes(1));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(second::get)
			.havingCause()
			.withMessageContaining("gone away");
		assertNothingLeft();
	}

	@Test
	void bugInTheStoreLeavesNoCallerWaiting() throws InterruptedException {
		Running<HeldLock> second = renewing(request());
		Running<HeldLock> third = waitingBehind(request());
		this.store.onRenew = (request) -> RenewResult.RENEWED;
		this.answer.completeExceptionally(new NoClassDefFoundError("gone"));
		assertThat(second.result()).failsWithin(Duration.ofSeconds(10))
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(NoClassDefFoundError.class);
		assertThat(third.get().fencingToken()).isEqualTo(11);
	}

	@Test
	void h16NextCallerTakesOverTheRenewalOfOneWhoseTimeIsOver() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> impatient = waitingBehind(request().waitTime(TOO_LONG));
		Running<HeldLock> patient = waitingBehind(request());
		this.time.advanceUnnoticed(TOO_LONG);
		first.close();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(impatient::get);
		assertThat(patient.get().fencingToken()).isEqualTo(11);
		assertThat(this.store.renewed).hasSize(1);
		assertThat(this.store.released).isEmpty();
	}

	@Test
	void lockIsReleasedWhenTheOnlyNextCallerHasGone() {
		HeldLock first = held(request(), 10);
		Running<HeldLock> impatient = waitingBehind(request().waitTime(TOO_LONG));
		this.time.advanceUnnoticed(TOO_LONG);
		first.close();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(impatient::get);
		runBackground();
		assertThat(this.store.renewed).isEmpty();
		assertThat(this.store.released).hasSize(1);
		assertNothingLeft();
	}

	@Test
	void interruptedCallerGetsTheLockThatItWasRenewing() throws InterruptedException {
		Running<HeldLock> second = renewing(request());
		second.thread().interrupt();
		this.answer.complete(RenewResult.RENEWED);
		assertThat(second.get().isHeld()).isTrue();
	}

	@Test
	void h14RivalThatRequestsDuringTheRenewalIsRemembered() throws InterruptedException {
		Running<HeldLock> second = renewing(request());
		this.store.messages().wanted(KEY, ownership(KEY).token());
		this.answer.complete(RenewResult.RENEWED);
		Running<HeldLock> third = waitingBehind(request());
		advance(Duration.ofNanos(KeyLockRegistry.MAX_HANDOFF_NANOS));
		second.get().close();
		assertThat(this.store.released).hasSize(1);
		acquiresAnew(third);
	}

	@Test
	void grantOfAnOwnershipThatIsBeingRenewedIsADuplicate() throws InterruptedException {
		Running<HeldLock> second = renewing(request());
		this.store.messages().granted(KEY, ownership(KEY).token(), 10, false);
		this.answer.complete(RenewResult.RENEWED);
		assertThat(second.get().fencingToken()).isEqualTo(11);
	}

	@Test
	void f26StoppedEngineReleasesWhatIsBeingRenewed() throws InterruptedException {
		this.store.onRelease = (request) -> new ReleaseResult.Released();
		Running<HeldLock> second = renewing(request());
		Ownership surrendered = ownership(KEY);
		this.registry.lock(KEY).surrender(Cause.STOPPED, this.time.nanoTime());
		assertThat(surrendered.state()).isEqualTo(Ownership.State.LOST);
		this.answer.complete(RenewResult.RENEWED);
		assertThat(acquiresAnew(second).fencingToken()).isEqualTo(1000);
	}

}
