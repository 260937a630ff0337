package io.github.lockspring.internal.transaction;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.store.LockStore.RenewRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

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
		this.bank.guarded(Verification.REMOTE, Duration.ZERO);
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

	@Test
	void tooLittleTimeLeftIsALoss() {
		this.bank.guarded(Verification.LOCAL, Duration.ofSeconds(10));
		LockRequest request = LockRequest.of("a").ttl(Duration.ofSeconds(9)).renew(false);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> run(request, NOTHING))
			.withMessageContainingAll("'a'", "10000 ms");
		assertThat(this.bank.written()).isZero();
		this.bank.locks.executeWithoutResult(request.ttl(Duration.ofSeconds(20)).renew(false),
				(lock) -> writeInTransaction());
		assertThat(this.bank.written()).isOne();
	}

	@Test
	void leaseThatMayBeRenewedIsRenewedBeforeItIsTooShort() {
		// the watchdog would renew it nine seconds later
		Duration minRemaining = Duration.ofSeconds(29);
		this.bank.guarded(Verification.LOCAL, minRemaining);
		LockRequest request = LockRequest.of("a").ttl(Duration.ofSeconds(30));
		run(request, (lock) -> await().until(() -> lock.remaining().compareTo(minRemaining) < 0));
		assertThat(this.bank.written()).isOne();
		assertThat(this.bank.renewals()).isEqualTo(1);
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
		this.bank.guarded(Verification.OFF, Duration.ofDays(1));
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
		this.bank.guarded(Verification.REMOTE, Duration.ZERO);
		run(LockRequest.of("a"), NOTHING);
		assertThat(this.bank.renewals()).isEqualTo(1);
		this.bank.loseLocks();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> run(LockRequest.of("a"), NOTHING));
		assertThat(this.bank.written()).isOne();
	}

	@Test
	void f22RemoteVerificationWithoutAReplyRollsBack() {
		this.bank.guarded(Verification.REMOTE, Duration.ZERO);
		this.bank.store.onRenew = (request) -> {
			throw new LockUnavailableException("no answer");
		};
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> run(LockRequest.of("a"), NOTHING));
		assertThat(this.bank.written()).isZero();
		assertThat(this.bank.refused).containsExactly("a");
	}

	private void guarded() {
		this.bank.guarded(Verification.LOCAL, Duration.ofMillis(10));
	}

	/** Writes in a transaction under the lock, and does something before the commit. */
	private void run(LockRequest request, Consumer<KeyedLock> beforeCommit) {
		this.bank.locks.executeWithoutResult(request,
				(lock) -> this.bank.transaction().executeWithoutResult((status) -> {
					this.bank.write();
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
