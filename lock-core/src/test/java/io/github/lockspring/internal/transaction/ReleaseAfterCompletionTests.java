package io.github.lockspring.internal.transaction;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.base.CallChain;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * A lock that is taken inside a transaction is given back when that is complete.
 */
class ReleaseAfterCompletionTests {

	private static final LockRequest A = LockRequest.of("a");

	private final Bank bank = new Bank();

	@AfterEach
	void nothingIsLeft() {
		try {
			assertThat(CallChain.currentLocks(KeyedLock.class)).isEmpty();
			assertThat(CallChain.innermostLocks(KeyedLock.class)).isEmpty();
			// a lost one is released in the background
			await().until(() -> this.bank.isFree("a") && this.bank.isFree("b"));
		}
		finally {
			this.bank.close();
		}
	}

	@Test
	@Tag("early-release")
	void f25LockIsKeptUntilTheCommitIsVisible() {
		List<Boolean> freeAfterCommit = new CopyOnWriteArrayList<>();
		this.bank.transaction().executeWithoutResult((status) -> {
			this.bank.locks.executeWithoutResult(A, (lock) -> this.bank.write());
			assertThat(this.bank.isFree("a")).isFalse();
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void afterCommit() {
					freeAfterCommit.add(ReleaseAfterCompletionTests.this.bank.isFree("a"));
				}
			});
		});
		assertThat(freeAfterCommit).containsExactly(false);
		assertThat(this.bank.isFree("a")).isTrue();
		assertThat(this.bank.written()).isOne();
	}

	@Test
	@Tag("early-release")
	void f25LockIsKeptUntilTheRollback() {
		assertThatIllegalStateException().isThrownBy(() -> this.bank.transaction().executeWithoutResult((status) -> {
			this.bank.locks.executeWithoutResult(A, (lock) -> this.bank.write());
			assertThat(this.bank.isFree("a")).isFalse();
			throw new IllegalStateException();
		}));
		assertThat(this.bank.isFree("a")).isTrue();
	}

	@Test
	void f25LockOfWorkThatFailedIsKeptUntilTheTransactionEnds() {
		this.bank.transaction().executeWithoutResult((status) -> {
			assertThatIllegalStateException().isThrownBy(() -> this.bank.locks.executeWithoutResult(A, (lock) -> {
				throw new IllegalStateException();
			}));
			assertThat(this.bank.isFree("a")).isFalse();
		});
	}

	@Test
	@Tag("early-release")
	void f25WithoutTheFeatureTheLockEndsBeforeTheCommit() {
		try (Bank plain = new Bank(UnitOfWork.NONE)) {
			plain.transaction().executeWithoutResult((status) -> {
				plain.locks.executeWithoutResult(A, (lock) -> plain.write());
				assertThat(plain.isFree("a")).isTrue();
			});
		}
	}

	@Test
	void lockIsEnteredAgainInTheSameTransaction() {
		this.bank.transaction().executeWithoutResult((status) -> {
			HeldLock first = this.bank.locks.execute(A, (lock) -> lock);
			HeldLock second = this.bank.locks.execute(A, (lock) -> lock);
			assertThat(second).isSameAs(first);
			assertThat(CallChain.currentLocks(HeldLock.class)).containsExactly(first);
		});
		assertThat(this.bank.store.looks).hasSize(1);
		assertThat(this.bank.store.released).hasSize(1);
	}

	@Test
	void lockIsEnteredAgainInNewTransactionInsideAndOutlivesIt() {
		this.bank.transaction().executeWithoutResult((outer) -> {
			HeldLock first = this.bank.locks.execute(A, (lock) -> lock);
			requiresNew((inner) -> assertThat(this.bank.locks.<HeldLock, RuntimeException>execute(A, (lock) -> lock))
				.isSameAs(first));
			assertThat(this.bank.isFree("a")).isFalse();
		});
	}

	@Test
	void scopeWithoutTransactionIsNone() {
		this.bank.transaction(TransactionDefinition.PROPAGATION_SUPPORTS).executeWithoutResult((status) -> {
			assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isTrue();
			lock(A);
			assertThat(this.bank.isFree("a")).isTrue();
		});
	}

	@Test
	void handleIsNotKept() {
		this.bank.transaction().executeWithoutResult((status) -> {
			this.bank.locks.acquire(A).close();
			assertThat(this.bank.isFree("a")).isTrue();
		});
	}

	@Test
	void lockThatWasTakenOutsideEndsWithItsCall() {
		this.bank.locks.executeWithoutResult(A, (outer) -> this.bank.transaction()
			.executeWithoutResult(
					(status) -> this.bank.locks.executeWithoutResult(A, (lock) -> assertThat(lock).isSameAs(outer))));
		assertThat(this.bank.isFree("a")).isTrue();
	}

	@ParameterizedTest
	@MethodSource
	void leaseEndsInsideATransactionToo(LockRequest request) {
		this.bank.guarded(Verification.LOCAL);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.bank.transaction().executeWithoutResult((status) -> {
				this.bank.write();
				HeldLock lock = this.bank.locks.execute(request, (held) -> held);
				await().until(() -> !lock.isHeld());
			}));
		assertThat(this.bank.written()).isZero();
	}

	static List<LockRequest> leaseEndsInsideATransactionToo() {
		return List.of(A.ttl(Duration.ofMillis(300)).renew(false),
				A.ttl(Duration.ofMillis(300)).maxHold(Duration.ofMillis(600)));
	}

	@Test
	void lossThatIsFoundWhenTheTransactionHasEndedIsAnEvent() {
		this.bank.transaction().executeWithoutResult((status) -> {
			LockRequest request = A.ttl(Duration.ofMillis(300)).maxHold(Duration.ofMillis(300));
			HeldLock lock = this.bank.locks.execute(request, (held) -> held);
			await().until(() -> lock.remaining().isZero());
		});
		await()
			.untilAsserted(() -> assertThat(this.bank.events).filteredOn(LockEvent.Lost.class::isInstance).hasSize(1));
	}

	@Test
	void transactionThatEndsInsideTheCallLeavesItItsLock() {
		TransactionStatus status = this.bank.transactions.getTransaction(null);
		this.bank.locks.executeWithoutResult(A, (lock) -> {
			this.bank.write();
			this.bank.transactions.commit(status);
			assertThat(lock.isHeld()).isTrue();
			assertThat(this.bank.isFree("a")).isFalse();
		});
		assertThat(this.bank.isFree("a")).isTrue();
	}

	// defect 10
	@Test
	void transactionThatEndsInsideACallThatHasEnteredItsLockAgainLeavesItTheLock() {
		TransactionStatus status = this.bank.transactions.getTransaction(null);
		lock(A);
		this.bank.locks.executeWithoutResult(A, (lock) -> {
			this.bank.transactions.commit(status);
			assertThat(lock.isHeld()).isTrue();
			assertThat(this.bank.isFree("a")).isFalse();
		});
		assertThat(this.bank.isFree("a")).isTrue();
	}

	@Test
	void severalKeysAreKeptTogether() {
		this.bank.transaction().executeWithoutResult((status) -> {
			lock(Requests.ofKeys("a", "b"));
			assertThat(CallChain.currentLocks(KeyedLock.class)).extracting(KeyedLock::key)
				.containsExactlyInAnyOrder("a", "b");
			assertThat(this.bank.isFree("a")).isFalse();
			assertThat(this.bank.isFree("b")).isFalse();
		});
	}

	@Test
	void locksOfTheCallChainComeBeforeThoseOfTheTransaction() {
		this.bank.transaction().executeWithoutResult((status) -> {
			lock(A);
			this.bank.locks.executeWithoutResult(LockRequest.of("b"), (lock) -> {
				assertThat(CallChain.currentLocks(KeyedLock.class)).extracting(KeyedLock::key)
					.containsExactly("b", "a");
				assertThat(CallChain.innermostLocks(HeldLock.class)).containsExactly(lock);
			});
			assertThat(CallChain.innermostLocks(KeyedLock.class)).extracting(KeyedLock::key).containsExactly("a", "b");
		});
	}

	@Test
	void locksThatCallsHaveLeftToTheTransactionAreThoseOfTheCallAround() {
		this.bank.locks.executeWithoutResult(LockRequest.of("job"), (job) -> {
			this.bank.transaction().executeWithoutResult((status) -> {
				lock(A);
				assertThat(CallChain.innermostLocks(KeyedLock.class)).extracting(KeyedLock::key)
					.containsExactly("job", "a");
				this.bank.locks.executeWithoutResult(LockRequest.of("b"),
						(lock) -> assertThat(CallChain.innermostLocks(KeyedLock.class)).extracting(KeyedLock::key)
							.containsExactly("b"));
			});
			assertThat(CallChain.innermostLocks(KeyedLock.class)).extracting(KeyedLock::key).containsExactly("job");
		});
	}

	// defect 28
	@Test
	void lockThatIsTakenAfterTheCommitInsideACallbackIsKeptUntilTheCompletion() {
		List<String> seen = new CopyOnWriteArrayList<>();
		this.bank.transaction()
			.executeWithoutResult((status) -> TransactionSynchronizationManager
				.registerSynchronization(new TransactionSynchronization() {
					@Override
					public void afterCommit() {
						lock(A);
						seen.add("after the commit, free: " + ReleaseAfterCompletionTests.this.bank.isFree("a"));
					}

					@Override
					public void afterCompletion(int completed) {
						lock(LockRequest.of("b"));
						seen.add("after completion, free: " + ReleaseAfterCompletionTests.this.bank.isFree("b"));
					}
				}));
		assertThat(seen).containsExactly("after the commit, free: false", "after completion, free: true");
		assertThat(this.bank.isFree("a")).isTrue();
	}

	@Test
	void threadDoesNotWaitForItsOwnTransaction() {
		this.bank.transaction().executeWithoutResult((status) -> {
			lock(A);
			assertThatIllegalStateException().isThrownBy(() -> this.bank.locks.asLock("a").lock())
				.withMessageContainingAll("'a'", "wait for itself");
			assertThat(this.bank.locks.asLock("a").tryLock()).isFalse();
		});
	}

	@Test
	void lockIsReleasedIfTheTransactionCannotTakeIt() {
		try (Bank broken = new Bank(new Unit() {
			@Override
			public void afterCompletion(Runnable action) {
				throw new IllegalStateException("too late");
			}
		})) {
			assertThatIllegalStateException()
				.isThrownBy(() -> broken.locks.executeWithoutResult(A, (lock) -> broken.write()));
			assertThat(broken.written()).isZero();
			assertThat(broken.isFree("a")).isTrue();
			assertThat(CallChain.currentLocks(KeyedLock.class)).isEmpty();
		}
	}

	@Test
	void transactionMayBeCompletedByAnotherThread() {
		List<Runnable> completion = new CopyOnWriteArrayList<>();
		try (Bank distributed = new Bank(new Unit() {
			@Override
			public void afterCompletion(Runnable action) {
				completion.add(action);
			}
		})) {
			distributed.locks.executeWithoutResult(A, (lock) -> {
			});
			assertThat(CallChain.currentLocks(KeyedLock.class)).hasSize(1);
			CompletableFuture.runAsync(completion.get(0)).join();
			assertThat(CallChain.currentLocks(KeyedLock.class)).isEmpty();
			assertThat(distributed.isFree("a")).isTrue();
		}
	}

	private void lock(LockRequest request) {
		this.bank.locks.executeWithoutResult(request, (lock) -> {
		});
	}

	private abstract static class Unit implements UnitOfWork {

		@Override
		public boolean isActive() {
			return true;
		}

	}

	private void requiresNew(Consumer<TransactionStatus> work) {
		this.bank.transaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW).executeWithoutResult(work);
	}

}
