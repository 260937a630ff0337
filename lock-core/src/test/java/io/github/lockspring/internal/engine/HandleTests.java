package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.internal.base.LockOptions;
import io.github.lockspring.store.LockStore.RenewResult;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What a handle promises to whoever has it.
 */
class HandleTests extends EngineFixture {

	@BeforeEach
	void everyLockIsFree() {
		this.store.free();
	}

	private HeldLock handle(LockRequest request) {
		return this.template.acquire(request);
	}

	@Test
	void mayBeClosedOnAnotherThread() {
		HeldLock lock = handle(request());
		start(() -> {
			lock.close();
			return true;
		}).get();
		assertThat(lock.isHeld()).isFalse();
		assertThat(lock.remaining()).isZero();
		assertThat(this.store.released).hasSize(1);
		assertNothingLeft();
	}

	@Test
	void secondCloseDoesNothing() {
		HeldLock lock = handle(request());
		lock.close();
		lock.close();
		assertThat(this.store.released).hasSize(1);
		assertThat(this.events).hasSize(2);
	}

	@Test
	void cannotBeInterruptedSinceItHasNoThread() {
		assertThatIllegalArgumentException().isThrownBy(() -> handle(request().onLost(OnLost.INTERRUPT)))
			.withMessageContaining("execute");
		assertThat(this.store.looks).isEmpty();
	}

	@Test
	void extensionLengthensTheLease() {
		HeldLock lock = handle(LockRequest.of(KEY).ttl(TTL).renew(false));
		advance(Duration.ofSeconds(20));
		lock.extend(Duration.ofSeconds(60));
		Duration drift = Duration.ofMillis(602);
		assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(60).minus(drift));
		assertThat(this.store.renewed.get(0).get(0).ttl()).isEqualTo(Duration.ofSeconds(60));
	}

	@Test
	void extendedFixedLeaseIsNotRenewedAutomatically() {
		HeldLock lock = handle(LockRequest.of(KEY).ttl(Duration.ofMillis(100)).renew(false));
		lock.extend(Duration.ofMinutes(10));
		passHeld(lock, 590);
		assertThat(this.store.renewed).hasSize(1);
		pass(Duration.ofSeconds(10));
		assertThat(lock.isHeld()).isFalse();
	}

	@Test
	void extendedLeaseIsRenewedNoMoreOftenThanOthers() {
		HeldLock lock = handle(request());
		lock.extend(Duration.ofHours(1));
		advance(Duration.ofMinutes(20));
		for (int i = 0; i < 100; i++) {
			pass(Duration.ofMillis(100));
		}
		assertThat(this.store.renewed).hasSizeBetween(2, 4);
		assertThat(lock.remaining()).isGreaterThan(Duration.ofMinutes(39));
	}

	@Test
	void lossThatIsKnownCostsNoCommand() {
		HeldLock lock = handle(request());
		pass(TTL);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> lock.extend(TTL));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(((KeyedLock) lock)::verify);
		assertThat(this.store.renewed).isEmpty();
	}

	@Test
	void extensionThatFindsAnotherOwnerIsALoss() {
		HeldLock lock = handle(request());
		this.store.onRenew = (request) -> RenewResult.NOT_OWNER;
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> lock.extend(TTL))
			.withMessageContaining("it has another owner");
		assertThat(lock.isHeld()).isFalse();
	}

	@Test
	void extensionWhoseResultArrivesTooLateIsALoss() {
		HeldLock lock = handle(request());
		this.store.onRenew = (request) -> {
			advance(TTL);
			return RenewResult.RENEWED;
		};
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> lock.extend(Duration.ofHours(1)));
		assertThat(lock.isHeld()).isFalse();
	}

	@Test
	void extensionWithoutResultLeavesTheLeaseAsItWas() {
		HeldLock lock = handle(Requests.labelled(request(), "shipping"));
		Duration before = lock.remaining();
		this.store.failRenewals();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> lock.extend(Duration.ofHours(1)))
			.withMessageContaining("'" + KEY + "' (shipping)")
			.havingCause()
			.withMessage("no answer");
		this.store.onRenew = (request) -> RenewResult.UNKNOWN;
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> lock.extend(Duration.ofHours(1)));
		assertThat(lock.remaining()).isEqualTo(before);
	}

	@Test
	void extensionByAnAbsurdTimeIsRefused() {
		HeldLock lock = handle(request());
		assertThatIllegalArgumentException().isThrownBy(() -> lock.extend(LockOptions.MIN_TTL.minusMillis(1)));
		assertThatIllegalArgumentException().isThrownBy(() -> lock.extend(LockOptions.MAX_DURATION.plusMillis(1)));
		lock.extend(LockOptions.MIN_TTL);
		lock.extend(LockOptions.MAX_DURATION);
		assertThat(lock.remaining()).isGreaterThan(Duration.ofDays(360));
	}

	@Test
	void ensureHeldDistinguishesALossFromAnEnd() {
		HeldLock lock = handle(request());
		lock.ensureHeld();
		advance(TTL);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::ensureHeld);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
		assertThatIllegalStateException().isThrownBy(lock::ensureHeld);
	}

	@Test
	void severalKeysHaveATokenEachAndTheLeaseOfTheWeakest() {
		HeldLock locks = handle(Requests.ofKeys("b", "a"));
		assertThat(locks.keys()).containsExactly("a", "b");
		assertThat(locks.fencingToken("b")).isEqualTo(2);
		assertThatIllegalArgumentException().isThrownBy(() -> locks.fencingToken("c")).withMessageContaining("[a, b]");
		assertThat(((KeyedLock) locks).locks()).extracting(KeyedLock::fencingToken).containsExactly(1L, 2L);
		assertThatIllegalStateException().isThrownBy(locks::fencingToken).withMessageContaining("[a, b]");
		((KeyedLock) locks).locks().get(1).extend(Duration.ofHours(1));
		assertThat(locks.remaining()).isEqualTo(((KeyedLock) locks).locks().get(0).remaining());
		((KeyedLock) locks).locks().get(0).close();
		assertThat(locks.isHeld()).isFalse();
		locks.close();
		assertNothingLeft();
	}

	@Test
	void severalLossesAreOneException() {
		HeldLock locks = handle(Requests.ofKeys("b", "a"));
		pass(TTL);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(locks::close)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasSize(1));
		locks.close();
	}

}
