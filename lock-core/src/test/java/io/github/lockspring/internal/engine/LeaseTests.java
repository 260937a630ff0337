package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.StoreTraits;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

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
		return this.engine.template().acquire(request);
	}

	@Test
	void renewedLeaseIsRenewedAtAThirdOfItsTtl() {
		HeldLock lock = take(request());
		pass(THIRD.minusMillis(1));
		assertThat(this.store.renewed).isEmpty();
		pass(Duration.ofMillis(1));
		assertThat(this.store.renewed).hasSize(1);
		assertThat(this.store.renewed.get(0).get(0).ttl()).isEqualTo(TTL);
		assertThat(lock.remaining()).isEqualTo(TTL.minus(DRIFT));
		pass(THIRD);
		assertThat(this.store.renewed).hasSize(2);
	}

	@Test
	void shorterGrantIsTheLeaseUntilARenewalLengthensIt() {
		Running<HeldLock> running = acquire(LockRequest.of(KEY).ttl(TTL).renew(false));
		this.store.nextLook().answer().complete(new AcquireResult.Acquired(1, Duration.ofSeconds(6)));
		HeldLock lock = running.get();
		assertThat(lock.remaining()).isBetween(Duration.ofMillis(5900), Duration.ofSeconds(6));
		pass(Duration.ofSeconds(2));
		assertThat(this.store.renewed).hasSize(1);
		assertThat(this.store.renewed.get(0).get(0).ttl()).isEqualTo(Duration.ofSeconds(28));
		pass(Duration.ofSeconds(20));
		assertThat(lock.isHeld()).isTrue();
	}

	@Test
	void shorterGrantThatIsNotRenewedEndsTheHold() {
		Running<HeldLock> running = acquire(request());
		this.store.nextLook().answer().complete(new AcquireResult.Acquired(1, Duration.ofSeconds(6)));
		HeldLock lock = running.get();
		advance(Duration.ofSeconds(6));
		assertThat(lock.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
	}

	@Test
	void longestLeaseOfTheStoreIsRequestedAndALongerFixedTtlIsReachedByRenewals() {
		this.store.traits = new StoreTraits(Duration.ofSeconds(1), Duration.ofMillis(1), Duration.ofSeconds(9), false,
				false);
		HeldLock lock = take(LockRequest.of(KEY).ttl(TTL).renew(false));
		assertThat(this.store.looks.get(0).ttl()).isEqualTo(Duration.ofSeconds(9));
		for (int i = 0; i < 29; i++) {
			pass(Duration.ofSeconds(1));
			assertThat(lock.isHeld()).as("after %s s", i + 1).isTrue();
		}
		pass(Duration.ofSeconds(1));
		assertThat(lock.isHeld()).isFalse();
		assertThat(this.store.renewed)
			.allSatisfy((requests) -> assertThat(requests.get(0).ttl()).isLessThanOrEqualTo(Duration.ofSeconds(9)));
	}

	@Test
	void longestLeaseThatBecomesShorterCountsFromTheNextRenewalOn() {
		HeldLock lock = take(request());
		this.store.traits = new StoreTraits(Duration.ofSeconds(1), Duration.ofMillis(1), Duration.ofSeconds(9), false,
				false);
		pass(THIRD);
		assertThat(this.store.renewed.get(0).get(0).ttl()).isEqualTo(Duration.ofSeconds(9));
		((KeyedLock) lock).verify();
		assertThat(this.store.renewed.get(1).get(0).ttl()).isEqualTo(Duration.ofSeconds(9));
		lock.extend(Duration.ofMinutes(2));
		assertThat(this.store.renewed.get(2).get(0).ttl()).isEqualTo(Duration.ofSeconds(9));
		for (int i = 0; i < 60; i++) {
			pass(Duration.ofSeconds(2));
			assertThat(lock.isHeld()).isTrue();
		}
	}

	@Test
	void fixedLeaseTakenDirectlyIsNeverRenewed() {
		HeldLock lock = take(LockRequest.of(KEY).ttl(TTL).renew(false));
		for (int i = 0; i < 29; i++) {
			pass(Duration.ofSeconds(1));
			assertThat(lock.isHeld()).isTrue();
		}
		pass(Duration.ofSeconds(1));
		assertThat(lock.isHeld()).isFalse();
		assertThat(this.store.renewed).isEmpty();
		assertThat(events(LockEvent.Lost.class)).hasSize(1);
	}

	@Test
	@Tag("h10")
	void h17FixedLeaseThatWasHandedOverIsLiftedToItsFullTtlOnce() {
		Waiting waiting = waiting(LockRequest.of(KEY).ttl(TTL).renew(false).waitTime(TTL), 100);
		this.store.messages().granted(KEY, waiting.attempt().token(), 101, false);
		HeldLock lock = waiting.running().get();
		assertThat(lock.remaining()).isLessThan(Duration.ofSeconds(5));
		pass(Duration.ofSeconds(2));
		assertThat(this.store.renewed).hasSize(1);
		assertThat(this.store.renewed.get(0).get(0).ttl()).isEqualTo(Duration.ofSeconds(28));
		assertThat(lock.remaining()).isGreaterThan(Duration.ofSeconds(27));
		for (int i = 2; i < 29; i++) {
			pass(Duration.ofSeconds(1));
			assertThat(lock.isHeld()).isTrue();
		}
		pass(Duration.ofSeconds(1));
		assertThat(lock.isHeld()).isFalse();
		assertThat(this.store.renewed).hasSize(1);
	}

	@Test
	void shortWorkUnderALockThatWasHandedOverCostsNoRenewal() {
		Waiting waiting = waiting(request(), 100);
		this.store.messages().granted(KEY, waiting.attempt().token(), 101, false);
		HeldLock lock = waiting.running().get();
		pass(Duration.ofMillis(1600));
		lock.close();
		assertThat(this.store.renewed).isEmpty();
	}

	@Test
	void longestHoldEndsRenewalAndTheLeaseThenRunsOut() {
		HeldLock lock = take(request().maxHold(Duration.ofSeconds(65)));
		for (int passed = 1; passed <= 64; passed++) {
			pass(Duration.ofSeconds(1));
			assertThat(lock.isHeld()).as("after %s s", passed).isTrue();
			assertThat(lock.remaining()).isLessThanOrEqualTo(Duration.ofSeconds(65 - passed));
		}
		int renewals = this.store.renewed.size();
		assertThat(renewals).isBetween(4, 6);
		pass(Duration.ofSeconds(1));
		assertThat(lock.isHeld()).isFalse();
		assertThat(this.store.renewed).hasSize(renewals);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
	}

	@Test
	void h06LeaseThatWasSeenToEndIsNotRevivedByAResultInThatMoment() {
		this.store.traits = StoreTraits.exact().withBlocking(true);
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

	@Test
	void f07FailedRenewalIsRetriedAtATenthOfTheTtl() {
		HeldLock lock = take(request());
		this.store.onRenew = (request) -> {
			throw new LockUnavailableException("no answer");
		};
		pass(THIRD);
		pass(Duration.ofMillis(2999));
		assertThat(this.store.renewed).hasSize(1);
		pass(Duration.ofMillis(1));
		assertThat(this.store.renewed).hasSize(2);
		this.store.onRenew = (request) -> RenewResult.UNKNOWN;
		pass(Duration.ofSeconds(3));
		this.store.onRenew = (request) -> RenewResult.RENEWED;
		pass(Duration.ofSeconds(3));
		assertThat(this.store.renewed).hasSize(4);
		assertThat(lock.remaining()).isEqualTo(TTL.minus(DRIFT));
	}

	@Test
	void f07RenewalGoesOnAfterAnExceptionAndAnErrorOfTheStore() {
		HeldLock lock = take(request());
		AtomicInteger calls = new AtomicInteger();
		this.store.onRenew = (request) -> switch (calls.incrementAndGet()) {
			case 1 -> throw new IllegalStateException("a bug");
			case 2 -> throw new NoClassDefFoundError("gone");
			default -> RenewResult.RENEWED;
		};
		pass(THIRD);
		pass(Duration.ofSeconds(3));
		pass(Duration.ofSeconds(3));
		assertThat(calls).hasValue(3);
		assertThat(lock.remaining()).isEqualTo(TTL.minus(DRIFT));
	}

	@Test
	void f07RenewalGoesOnWhenItsThreadCouldNotBeStarted() {
		this.store.traits = StoreTraits.exact().withBlocking(true);
		HeldLock lock = take(request());
		var works = this.background;
		this.background = (task) -> {
			throw new OutOfMemoryError("unable to create native thread");
		};
		pass(THIRD);
		assertThat(this.store.renewed).isEmpty();
		this.background = works;
		pass(Duration.ofSeconds(3));
		assertThat(this.store.renewed).hasSize(1);
		assertThat(lock.remaining()).isEqualTo(TTL.minus(DRIFT));
	}

	@Test
	void f07LossIsDeclaredAtTheDeadlineWhileARenewalIsUnderWay() {
		this.store.traits = StoreTraits.exact().withBlocking(true);
		HeldLock lock = take(request());
		advance(THIRD);
		tick();
		// nothing runs in the background: the store hangs
		advance(TTL.minus(THIRD).minus(DRIFT).minusNanos(1));
		tick();
		assertThat(lock.isHeld()).isTrue();
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		advance(Duration.ofNanos(1));
		tick();
		assertThat(lock.isHeld()).isFalse();
		assertThat(events(LockEvent.Lost.class)).hasSize(1);
	}

	@Test
	void f10ResultThatAnotherOwnsTheLockIsALossAtOnce() {
		HeldLock lock = take(request());
		this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
		pass(THIRD);
		assertThat(lock.isHeld()).isFalse();
		assertThat(lock.remaining()).isZero();
		assertThat(events(LockEvent.Lost.class)).singleElement()
			.satisfies((event) -> assertThat(event.reason()).contains("another owner has it"));
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
	void f08RenewalEndsWhenTheWorkThrows() {
		this.store.free();
		assertThatExceptionOfType(java.io.IOException.class)
			.isThrownBy(() -> this.engine.template().execute(request(), (lock) -> {
				pass(THIRD);
				throw new java.io.IOException("disk");
			}));
		pass(TTL);
		assertThat(this.store.renewed).hasSize(1);
		assertNothingLeft();
	}

	@Test
	void manyLocksAreRenewedInFewRequests() {
		this.store.free();
		List<HeldLock> locks = new ArrayList<>();
		for (int i = 0; i < 250; i++) {
			locks.add(this.engine.template().acquire(LockRequest.of("order:" + i)));
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
			this.engine.template().acquire(LockRequest.of("order:" + i));
			pass(Duration.ofSeconds(1));
		}
		pass(Duration.ofSeconds(5));
		assertThat(this.store.renewed).hasSize(1);
		assertThat(this.store.renewed.get(0)).hasSize(5);
	}

	@Test
	void leaseWithMuchTimeLeftIsNotRenewedAlongWithOthers() {
		this.store.free();
		this.engine.template().acquire(LockRequest.of("a"));
		pass(THIRD.minusSeconds(2));
		this.engine.template().acquire(LockRequest.of("b"));
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

	@Test
	void longestHoldOfAHungHolderFreesTheLockForOthers() {
		HeldLock hung = take(request().maxHold(TTL));
		this.store.onAcquire = null;
		Running<HeldLock> next = acquire(request().waitTime(Duration.ofMinutes(5)));
		this.time.awaitParked(next.thread());
		for (int i = 0; i < 30; i++) {
			pass(Duration.ofSeconds(1));
		}
		this.store.nextLook().acquired(2);
		assertThat(next.get().isHeld()).isTrue();
		assertThat(hung.isHeld()).isFalse();
	}

}
