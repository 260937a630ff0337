package io.github.lockspring.internal.transaction;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.transaction.TransactionDefinition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * No transaction commits whose lock was lost.
 */
class CommitGuardTests {

	private static final LockRequest SHORT = LockRequest.of("a").ttl(Duration.ofMillis(100)).renew(false);

	private static final Duration SHORT_HOLD = Duration.ofMillis(300);

	private static final Consumer<KeyedLock> NOTHING = (lock) -> {
	};

	private final Bank bank = new Bank();

	private final AtomicLong clock = new AtomicLong();

	@AfterEach
	void close() {
		this.bank.close();
	}

	@Test
	void checkOfATransactionThatHasItsLockCostsNoRoundTrip() {
		guarded();
		this.bank.locks.executeWithoutResult(LockRequest.of("a"), (lock) -> writeInTransaction());
		assertThat(this.bank.written()).isOne();
		assertThat(this.bank.refused).isEmpty();
		assertThat(this.bank.renewals()).isZero();
		assertThat(this.bank.store.looks).hasSize(1);
	}

	@Test
	void f03TransactionWhoseLeaseIsOverIsRolledBack() {
		guarded();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> run(SHORT, this::awaitLoss))
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("a"));
		assertThat(this.bank.written()).isZero();
		assertThat(this.bank.refused).containsExactly("a");
	}

	@Test
	@Tag("overrun-guard-remote")
	void f03LockTakenInsideTheTransactionCountsToo() {
		guarded();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.bank.transaction().executeWithoutResult((status) -> {
				this.bank.write();
				HeldLock lock = this.bank.locks.execute(LockRequest.of("a"), (held) -> held);
				this.bank.loseLocks();
				assertThatExceptionOfType(LockLostException.class).isThrownBy(((KeyedLock) lock)::verify);
			}));
		assertThat(this.bank.written()).isZero();
	}

	@Test
	void f03EachLockOfNestedCallsIsVerified() {
		guarded();
		LockRequest held = LockRequest.of("b");
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(
					() -> this.bank.locks.executeWithoutResult(SHORT, (lost) -> run(held, (inner) -> awaitLoss(lost))))
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("a"));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.bank.locks.executeWithoutResult(held, (outer) -> run(SHORT, this::awaitLoss)))
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("a"));
		assertThat(this.bank.written()).isZero();
		this.bank.locks.executeWithoutResult(LockRequest.of("a"), (outer) -> run(held, NOTHING));
		assertThat(this.bank.written()).isOne();
	}

	@Test
	void f03EachLockOfTheTransactionIsVerified() {
		guarded();
		LockRequest shortest = LockRequest.of("a").ttl(SHORT_HOLD).maxHold(SHORT_HOLD);
		for (List<LockRequest> order : List.of(List.of(shortest, LockRequest.of("b")),
				List.of(LockRequest.of("b"), shortest))) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.bank.transaction().executeWithoutResult((status) -> {
					this.bank.write();
					order.forEach((request) -> this.bank.locks.executeWithoutResult(request, (lock) -> {
					}));
					awaitLoss(HeldLock.current("a").orElseThrow());
				}))
				.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo("a"));
		}
		assertThat(this.bank.written()).isZero();
	}

	@Test
	void f10RemoteVerificationAsksForEachLock() {
		this.bank.guarded(Verification.REMOTE);
		this.bank.locks.executeWithoutResult(LockRequest.of("a"), (outer) -> run(Requests.ofKeys("b", "c"), NOTHING));
		assertThat(this.bank.store.renewed).flatExtracting((batch) -> batch)
			.extracting(RenewRequest::key)
			.containsExactlyInAnyOrder("a", "b", "c");
	}

	@Test
	void lostLockOfAnOuterCallCountsInNewTransactionInside() {
		guarded();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.bank.locks.executeWithoutResult(SHORT,
				(lock) -> this.bank.transaction().executeWithoutResult((outer) -> {
					awaitLoss(lock);
					this.bank.transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
						.executeWithoutResult((inner) -> this.bank.write());
				})));
		assertThat(this.bank.written()).isZero();
	}

	@ParameterizedTest
	@CsvSource({ "49, false", "50, true" })
	void tooLittleTimeLeftIsALoss(int millis, boolean enough) {
		LockRequest request = LockRequest.of("a").renew(false);
		try (Bank still = still()) {
			still.store.onRenew = (renewal) -> {
				throw new LockUnavailableException("no answer");
			};
			if (enough) {
				run(still, request, (lock) -> leave(millis, lock));
			}
			else {
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> run(still, request, (lock) -> leave(millis, lock)))
					.withMessageContainingAll("'a'", "49 ms", "50 ms");
			}
			assertThat(still.written()).isEqualTo(enough ? 1 : 0);
		}
	}

	/**
	 * The watchdog, which may look at the lease after the clock has moved, gets no
	 * answer: only what the guard asks for itself counts.
	 */
	@Test
	void leaseThatMayBeRenewedIsRenewedBeforeItIsTooShort() {
		try (Bank still = still()) {
			Thread holder = Thread.currentThread();
			AtomicInteger renewed = new AtomicInteger();
			still.store.onRenew = (request) -> {
				if (Thread.currentThread() != holder) {
					throw new LockUnavailableException("no answer");
				}
				renewed.incrementAndGet();
				return RenewResult.RENEWED;
			};
			run(still, LockRequest.of("a"), (lock) -> leave(49, lock));
			assertThat(still.written()).isOne();
			assertThat(renewed).hasValue(1);
		}
	}

	/** A guarded bank whose clock stands still. */
	private Bank still() {
		return new Bank(new TransactionUnitOfWork(), this.clock::get).guarded(Verification.LOCAL);
	}

	/** Moves that clock to this time before the end of a lease. */
	private void leave(int millis, HeldLock lock) {
		this.clock.addAndGet(lock.remaining().minusMillis(millis).toNanos());
	}

	@Test
	@Tag("exception-of-the-work")
	void exceptionOfTheWorkWins() {
		guarded();
		assertThatIllegalStateException().isThrownBy(() -> run(SHORT, (lock) -> {
			awaitLoss(lock);
			throw new IllegalStateException("of the work");
		}))
			.withMessage("of the work")
			.satisfies(
					(ex) -> assertThat(ex.getSuppressed()).hasOnlyElementsOfType(LockLostException.class).hasSize(1));
		assertThat(this.bank.written()).isZero();
	}

	@Test
	@Tag("guard-off")
	void guardThatIsOffLetsEverythingPass() {
		this.bank.guarded(Verification.OFF);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> run(SHORT, this::awaitLoss));
		assertThat(this.bank.written()).isOne();
	}

	@Test
	void f10OnlyTheStoreKnowsThatItHasLostItsData() {
		guarded();
		this.bank.loseLocks();
		this.bank.locks.executeWithoutResult(LockRequest.of("a").onLost(OnLost.THROW), (lock) -> writeInTransaction());
		assertThat(this.bank.written()).isOne();
	}

	@Test
	void f10RemoteVerificationRollsBackWhatTheStoreDoesNotKnow() {
		this.bank.guarded(Verification.REMOTE);
		run(LockRequest.of("a"), NOTHING);
		assertThat(this.bank.renewals()).isEqualTo(1);
		this.bank.loseLocks();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> run(LockRequest.of("a"), NOTHING));
		assertThat(this.bank.written()).isOne();
	}

	@Test
	void f22RemoteVerificationWithoutAReplyRollsBack() {
		this.bank.guarded(Verification.REMOTE);
		this.bank.store.onRenew = (request) -> {
			throw new LockUnavailableException("no answer");
		};
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> run(LockRequest.of("a"), NOTHING));
		assertThat(this.bank.written()).isZero();
		assertThat(this.bank.refused).containsExactly("a");
	}

	private void guarded() {
		this.bank.guarded(Verification.LOCAL);
	}

	/** Writes in a transaction under the lock, and does something before the commit. */
	private void run(LockRequest request, Consumer<KeyedLock> beforeCommit) {
		run(this.bank, request, beforeCommit);
	}

	private static void run(Bank bank, LockRequest request, Consumer<KeyedLock> beforeCommit) {
		bank.locks.executeWithoutResult(request, (lock) -> bank.transaction().executeWithoutResult((status) -> {
			bank.write();
			beforeCommit.accept((KeyedLock) lock);
		}));
	}

	private void writeInTransaction() {
		this.bank.transaction().executeWithoutResult((status) -> this.bank.write());
	}

	private void awaitLoss(HeldLock lock) {
		await().until(() -> !lock.isHeld());
	}

}
