package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.StoreTraits;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * When a lease is renewed, for how long, and when it is over.
 */
class LeaseTests extends EngineFixture {

	private static final Duration THIRD = TTL.dividedBy(3);

	private HeldLock take(LockRequest request) {
		this.store.free();
		return this.template.acquire(request);
	}

	private static LockRequest fixed() {
		return LockRequest.of(KEY).ttl(TTL).renew(false);
	}

	/** The length that a renewal requests. */
	private Duration renewedFor(int number) {
		return this.store.renewed.get(number).get(0).ttl();
	}

	private void storeGivesAtMostNineSeconds() {
		this.store.traits = new StoreTraits(Duration.ofSeconds(1), Duration.ofSeconds(9), false, false);
	}

	private void storeBlocks() {
		this.store.traits = StoreTraits.exact().withBlocking(true);
	}

	@Test
	void renewedLeaseIsRenewedAtAThirdOfItsTtl() {
		HeldLock lock = take(request());
		pass(THIRD.minusMillis(1));
		assertThat(this.store.renewed).isEmpty();
		pass(Duration.ofMillis(1));
		assertThat(renewedFor(0)).isEqualTo(TTL);
		assertThat(lock.remaining()).isEqualTo(TTL.minus(DRIFT));
		pass(THIRD);
		assertThat(this.store.renewed).hasSize(2);
	}

	@Test
	void shorterGrantIsTheLeaseUntilARenewalLengthensIt() {
		Waiting asking = asking(fixed());
		asking.attempt().acquired(1, Duration.ofSeconds(6));
		HeldLock lock = asking.get();
		assertThat(lock.remaining()).isBetween(Duration.ofMillis(5900), Duration.ofSeconds(6));
		pass(Duration.ofSeconds(2));
		assertThat(renewedFor(0)).isEqualTo(Duration.ofSeconds(28));
		pass(Duration.ofSeconds(20));
		assertThat(lock.isHeld()).isTrue();
	}

	@Test
	void longestLeaseOfTheStoreIsRequestedAndALongerFixedTtlIsReachedByRenewals() {
		storeGivesAtMostNineSeconds();
		HeldLock lock = take(fixed());
		assertThat(this.store.looks.get(0).ttl()).isEqualTo(Duration.ofSeconds(9));
		passHeld(lock, 29);
		pass(Duration.ofSeconds(1));
		assertThat(lock.isHeld()).isFalse();
		assertThat(this.store.renewed)
			.allSatisfy((requests) -> assertThat(requests.get(0).ttl()).isLessThanOrEqualTo(Duration.ofSeconds(9)));
	}

	@Test
	void longestLeaseThatBecomesShorterCountsFromTheNextRenewalOn() {
		HeldLock lock = take(request());
		storeGivesAtMostNineSeconds();
		pass(THIRD);
		((KeyedLock) lock).verify();
		lock.extend(Duration.ofMinutes(2));
		assertThat(List.of(renewedFor(0), renewedFor(1), renewedFor(2))).containsOnly(Duration.ofSeconds(9));
		passHeld(lock, 120);
	}

	@Test
	void fixedLeaseTakenDirectlyIsNeverRenewed() {
		HeldLock lock = take(fixed());
		passHeld(lock, 29);
		pass(Duration.ofSeconds(1));
		assertThat(lock.isHeld()).isFalse();
		assertThat(this.store.renewed).isEmpty();
		assertThat(events(LockEvent.Lost.class)).hasSize(1);
	}

	@Test
	@Tag("h10")
	void h17FixedLeaseThatWasHandedOverIsLiftedToItsFullTtlOnce() {
		HeldLock lock = grant(waiting(fixed().waitTime(TTL), 100), 101);
		assertThat(lock.remaining()).isLessThan(Duration.ofSeconds(5));
		pass(Duration.ofSeconds(2));
		assertThat(renewedFor(0)).isEqualTo(Duration.ofSeconds(28));
		assertThat(lock.remaining()).isGreaterThan(Duration.ofSeconds(27));
		passHeld(lock, 27);
		pass(Duration.ofSeconds(1));
		assertThat(lock.isHeld()).isFalse();
		assertThat(this.store.renewed).hasSize(1);
	}

	@Test
	void shortWorkUnderALockThatWasHandedOverCostsNoRenewal() {
		HeldLock lock = grant(waiting(request(), 100), 101);
		pass(Duration.ofMillis(1600));
		lock.close();
		assertThat(this.store.renewed).isEmpty();
	}

	@Test
	void longestHoldEndsRenewalAndTheLeaseThenRunsOut() {
		HeldLock lock = take(request().maxHold(Duration.ofSeconds(65)));
		passHeld(lock, 64);
		assertThat(lock.remaining()).isLessThanOrEqualTo(Duration.ofSeconds(1));
		int renewals = this.store.renewed.size();
		assertThat(renewals).isBetween(4, 6);
		pass(Duration.ofSeconds(1));
		assertThat(lock.isHeld()).isFalse();
		assertThat(this.store.renewed).hasSize(renewals);
	}

	@Test
	void h06LeaseThatWasSeenToEndIsNotRevivedByAResultInThatMoment() {
		storeBlocks();
		HeldLock lock = take(request());
		advance(THIRD);
		AtomicReference<Running<Boolean>> seen = new AtomicReference<>();
		this.store.onRenew = (request) -> {
			// whoever applies this answer has read the time, and is late to use it
			this.time.afterReading(() -> {
				this.time.advance(THIRD.multipliedBy(2));
				Running<Boolean> looking = start(lock::isHeld);
				await().until(() -> looking.result().isDone() || looking.thread().getState() == Thread.State.WAITING);
				seen.set(looking);
			});
			return RenewResult.RENEWED;
		};
		runBackground();
		assertThat(lock.isHeld()).as("once false, false for ever").isEqualTo(seen.get().get());
	}

	static List<Function<RenewRequest, RenewResult>> failures() {
		return List.of((request) -> RenewResult.UNKNOWN, (request) -> {
			throw new LockUnavailableException("no answer");
		}, (request) -> {
			throw new IllegalStateException("a bug");
		}, (request) -> {
			throw new NoClassDefFoundError("gone");
		});
	}

	@ParameterizedTest
	@MethodSource("failures")
	void f07FailedRenewalIsRetriedAtATenthOfTheTtl(Function<RenewRequest, RenewResult> failure) {
		HeldLock lock = take(request());
		this.store.onRenew = failure;
		pass(THIRD);
		pass(Duration.ofMillis(2999));
		assertThat(this.store.renewed).hasSize(1);
		pass(Duration.ofMillis(1));
		assertThat(this.store.renewed).hasSize(2);
		this.store.onRenew = (request) -> RenewResult.RENEWED;
		pass(Duration.ofSeconds(3));
		assertThat(this.store.renewed).hasSize(3);
		assertThat(lock.remaining()).isEqualTo(TTL.minus(DRIFT));
	}

	@Test
	void f07RenewalGoesOnWhenItsThreadCouldNotBeStarted() {
		storeBlocks();
		HeldLock lock = take(request());
		var works = this.background;
		failToStartThreads();
		pass(THIRD);
		assertThat(this.store.renewed).isEmpty();
		this.background = works;
		pass(Duration.ofSeconds(3));
		assertThat(this.store.renewed).hasSize(1);
		assertThat(lock.remaining()).isEqualTo(TTL.minus(DRIFT));
	}

	@Test
	void f07LossIsDeclaredAtTheDeadlineWhileARenewalIsUnderWay() {
		storeBlocks();
		HeldLock lock = take(request());
		// nothing runs in the background: the store hangs
		advance(THIRD);
		advance(TTL.minus(THIRD).minus(DRIFT).minusNanos(1));
		assertThat(lock.isHeld()).isTrue();
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		advance(Duration.ofNanos(1));
		assertThat(events(LockEvent.Lost.class)).hasSize(1);
		assertThat(lock.isHeld()).isFalse();
	}

	@Test
	void f10ResultThatAnotherOwnsTheLockIsALossAtOnce() {
		HeldLock lock = take(request());
		this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
		pass(THIRD);
		assertThat(lock.remaining()).isZero();
		assertThat(events(LockEvent.Lost.class)).singleElement()
			.satisfies((event) -> assertThat(event.reason()).contains("it has another owner"));
		pass(TTL);
		assertThat(this.store.renewed).hasSize(1);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
		assertNothingLeft();
	}

	@Test
	void f08RenewalEndsBeforeTheReleaseIsSent() {
		HeldLock lock = take(request());
		this.store.onRelease = (request) -> {
			pass(THIRD);
			return new ReleaseResult.Released();
		};
		lock.close();
		assertThat(this.store.renewed).isEmpty();
		assertNothingLeft();
	}

	@Test
	void manyLocksAreRenewedInFewRequests() {
		this.store.free();
		List<HeldLock> locks = new ArrayList<>();
		for (int i = 0; i < 250; i++) {
			locks.add(this.template.acquire(LockRequest.of("order:" + i)));
		}
		for (int round = 1; round <= 3; round++) {
			pass(THIRD);
			assertThat(this.store.renewed).hasSize(3 * round);
		}
		assertThat(this.store.renewed.get(0)).hasSize(100);
		assertThat(locks).allMatch((lock) -> lock.remaining().equals(TTL.minus(DRIFT)));
		locks.forEach(HeldLock::close);
		assertNothingLeft();
	}

	@Test
	void locksThatWereTakenAtDifferentTimesAreSoonRenewedTogether() {
		this.store.free();
		for (int i = 0; i < 5; i++) {
			this.template.acquire(LockRequest.of("order:" + i));
			pass(Duration.ofSeconds(1));
		}
		pass(Duration.ofSeconds(5));
		assertThat(this.store.renewed).hasSize(1);
		assertThat(this.store.renewed.get(0)).hasSize(5);
	}

	@Test
	void leaseWithMuchTimeLeftIsNotRenewedAlongWithOthers() {
		this.store.free();
		this.template.acquire(LockRequest.of("a"));
		pass(THIRD.minusSeconds(2));
		this.template.acquire(LockRequest.of("b"));
		pass(Duration.ofSeconds(2));
		assertThat(this.store.renewed.get(0)).extracting("key").containsExactly("a");
	}

	@Test
	void oneLeaseWithoutResultDoesNotDelayTheOthersOfItsBatch() {
		HeldLock first = take(LockRequest.of("a"));
		HeldLock second = take(LockRequest.of("b"));
		this.store.onRenew = (request) -> request.key().equals("a") ? RenewResult.UNKNOWN : RenewResult.RENEWED;
		pass(THIRD);
		assertThat(second.remaining()).isEqualTo(TTL.minus(DRIFT));
		assertThat(first.remaining()).isEqualTo(TTL.minus(DRIFT).minus(THIRD));
		pass(Duration.ofSeconds(3));
		assertThat(this.store.renewed.get(1)).extracting("key").containsExactly("a");
	}

}
