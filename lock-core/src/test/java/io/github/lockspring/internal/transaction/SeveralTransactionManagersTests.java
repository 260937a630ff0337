package io.github.lockspring.internal.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.base.CallChain;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * A lock belongs to the outermost transaction that is open, whichever manager began it.
 */
class SeveralTransactionManagersTests {

	private static final int REQUIRED = TransactionDefinition.PROPAGATION_REQUIRED;

	private static final int REQUIRES_NEW = TransactionDefinition.PROPAGATION_REQUIRES_NEW;

	private static final int NESTED = TransactionDefinition.PROPAGATION_NESTED;

	private static final int NOT_SUPPORTED = TransactionDefinition.PROPAGATION_NOT_SUPPORTED;

	private static final int SUPPORTS = TransactionDefinition.PROPAGATION_SUPPORTS;

	private final Bank bank = new Bank();

	private final PlatformTransactionManager first = this.bank.transactions;

	private final JdbcConnectionPool otherDatabase = JdbcConnectionPool.create("jdbc:h2:mem:" + System.nanoTime(), "sa",
			"");

	private final PlatformTransactionManager second = this.bank.known(new JdbcTransactionManager(this.otherDatabase));

	private final PlatformTransactionManager third = this.bank.known(new JdbcTransactionManager(this.otherDatabase));

	@AfterEach
	void nothingIsLeft() {
		try {
			assertThat(CallChain.currentLocks(KeyedLock.class)).isEmpty();
			assertThat(this.bank.isFree("a")).isTrue();
			assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
			in(this.first, REQUIRED,
					() -> assertThat(TransactionSynchronizationManager.getSynchronizations()).hasSizeLessThan(2));
			this.bank.locks.executeWithoutResult(LockRequest.of("a"), (lock) -> {
			});
			assertThat(this.bank.isFree("a")).isTrue();
		}
		finally {
			this.bank.close();
			this.otherDatabase.dispose();
		}
	}

	/** Also where the other manager has suspended its transaction, or has none. */
	@ParameterizedTest
	@ValueSource(ints = { REQUIRED, REQUIRES_NEW, NOT_SUPPORTED, SUPPORTS })
	@Tag("early-release")
	void f25LockThatIsTakenUnderTheOtherManagerIsKeptUntilTheOuterTransactionCommits(int propagation) {
		in(this.first, REQUIRED, () -> {
			in(this.second, propagation, () -> {
				lock();
				this.bank.write();
			});
			assertKept();
		});
		assertThat(this.bank.written()).isOne();
	}

	@ParameterizedTest
	@ValueSource(ints = { NOT_SUPPORTED, NESTED })
	@Tag("early-release")
	void f25LockThatIsTakenInsideTheInnerManagersTransactionIsKeptUntilTheOuterOneCommits(int propagation) {
		in(this.first, REQUIRED, () -> {
			in(this.second, REQUIRED, () -> {
				in(this.second, propagation, this::lock);
				assertKept();
			});
			assertKept();
			in(this.second, propagation, this::lock);
			assertKept();
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { NOT_SUPPORTED, REQUIRES_NEW })
	void f25LockThatIsTakenWhileTheOuterTransactionIsSuspendedIsKeptUntilTheInnerOneCommits(int propagation) {
		in(this.first, REQUIRED, () -> {
			in(this.second, REQUIRED, () -> {
				in(this.first, propagation, this::lock);
				assertKept();
			});
			assertThat(this.bank.isFree("a")).isTrue();
		});
	}

	@Test
	void f25LockIsKeptIfTheInnerManagersTransactionIsRolledBack() {
		in(this.first, REQUIRED, () -> {
			assertThatIllegalStateException().isThrownBy(() -> in(this.second, REQUIRED, () -> {
				lock();
				throw new IllegalStateException();
			}));
			assertKept();
		});
	}

	@Test
	void f25LockIsKeptThroughThreeManagers() {
		PlatformTransactionManager innermost = this.bank.known(new PlainTransactionManager());
		in(this.first, REQUIRED, () -> {
			in(this.second, REQUIRED, () -> {
				in(innermost, REQUIRED, this::lock);
				assertKept();
			});
			assertKept();
		});
	}

	@Test
	void lockOfNewTransactionOfTheSameManagerEndsWithThat() {
		in(this.first, REQUIRED, () -> {
			in(this.first, REQUIRES_NEW, () -> {
				in(this.second, REQUIRED, this::lock);
				assertKept();
			});
			assertThat(this.bank.isFree("a")).isTrue();
		});
	}

	@Test
	void lockWhileEveryTransactionIsSuspendedEndsWithItsCall() {
		in(this.first, REQUIRED, () -> in(this.second, REQUIRED, () -> in(this.second, NOT_SUPPORTED, () -> {
			in(this.first, NOT_SUPPORTED, () -> {
				lock();
				assertThat(this.bank.isFree("a")).isTrue();
			});
		})));
	}

	@Test
	void newTransactionThatTheOtherManagerOfTheSameDatabaseBeginsSuspendsTheOuterOne() {
		in(this.second, REQUIRED, () -> {
			in(this.third, REQUIRED, this::lock);
			assertKept();
		});
		assertThat(this.bank.isFree("a")).isTrue();
		in(this.second, REQUIRED, () -> {
			in(this.third, REQUIRES_NEW, this::lock);
			assertThat(this.bank.isFree("a")).isTrue();
		});
	}

	@Test
	void f25ManagerWithoutResourceKeepsTheLockToo() {
		PlatformTransactionManager plain = this.bank.known(new PlainTransactionManager());
		in(plain, REQUIRED, () -> {
			in(this.first, REQUIRED, this::lock);
			assertKept();
		});
		assertThat(this.bank.isFree("a")).isTrue();
		in(plain, REQUIRED, () -> {
			in(plain, REQUIRES_NEW, this::lock);
			assertThat(this.bank.isFree("a")).isTrue();
			in(plain, NOT_SUPPORTED, this::lock);
			assertThat(this.bank.isFree("a")).isTrue();
		});
	}

	@Test
	void managerWithoutSynchronizationsHidesNoTransactionAround() {
		JdbcTransactionManager silent = new JdbcTransactionManager(this.otherDatabase);
		silent.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		this.bank.known(silent);
		in(this.first, REQUIRED, () -> {
			in(silent, REQUIRED, this::lock);
			assertKept();
		});
		assertThat(this.bank.isFree("a")).isTrue();
		in(silent, REQUIRED, () -> {
			lock();
			assertThat(this.bank.isFree("a")).isTrue();
		});
	}

	@Test
	void lockThatIsTakenAfterTheCompletionEndsWithItsCall() {
		List<Boolean> free = new ArrayList<>();
		in(this.first, REQUIRED,
				() -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
					@Override
					public int getOrder() {
						return HIGHEST_PRECEDENCE;
					}

					@Override
					public void afterCompletion(int status) {
						lock();
						free.add(SeveralTransactionManagersTests.this.bank.isFree("a"));
						in(SeveralTransactionManagersTests.this.second, REQUIRED,
								SeveralTransactionManagersTests.this::lock);
						free.add(SeveralTransactionManagersTests.this.bank.isFree("a"));
					}
				}));
		assertThat(free).containsExactly(true, true);
	}

	@Test
	void transactionsThatEndInTheWrongOrderKeepNoLockForEver() {
		TransactionStatus outer = this.first.getTransaction(null);
		TransactionStatus inner = this.second.getTransaction(null);
		try {
			lock();
			this.first.commit(outer);
			assertKept();
			assertThatIllegalStateException().isThrownBy(() -> this.second.commit(inner))
				.withMessageContaining("synchronization is not active");
			assertThat(this.bank.isFree("a")).isTrue();
		}
		finally {
			TransactionSynchronizationManager.clear();
		}
	}

	@Test
	void f03LossFoundAtTheOuterCommitRollsTheOuterTransactionBack() {
		this.bank.guarded(Verification.LOCAL);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> in(this.first, REQUIRED, () -> {
			this.bank.write();
			in(this.second, REQUIRED, this::lock);
			HeldLock lock = CallChain.currentLocks(KeyedLock.class).get(0);
			this.bank.loseLocks();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(((KeyedLock) lock)::verify);
		}));
		assertThat(this.bank.written()).isZero();
		// a lock that counts as lost is released in the background
		await().until(() -> this.bank.isFree("a"));
	}

	private void in(PlatformTransactionManager manager, int propagation, Runnable work) {
		TransactionTemplate template = new TransactionTemplate(manager);
		template.setPropagationBehavior(propagation);
		template.executeWithoutResult((status) -> work.run());
	}

	private void lock() {
		this.bank.locks.executeWithoutResult(LockRequest.of("a"), (lock) -> {
		});
	}

	private void assertKept() {
		assertThat(this.bank.isFree("a")).isFalse();
		assertThat(CallChain.currentLocks(KeyedLock.class)).extracting(KeyedLock::key).containsExactly("a");
	}

	/** Remembers on a thread that a transaction runs, and binds no resource, as JTA. */
	private static final class PlainTransactionManager extends AbstractPlatformTransactionManager {

		private static final long serialVersionUID = 1;

		private transient boolean active;

		@Override
		protected Object doGetTransaction() {
			return Map.of();
		}

		@Override
		protected boolean isExistingTransaction(Object transaction) {
			return this.active;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			this.active = true;
		}

		@Override
		protected Object doSuspend(Object transaction) {
			this.active = false;
			return transaction;
		}

		@Override
		protected void doResume(Object transaction, Object suspendedResources) {
			this.active = true;
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			this.active = false;
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
			this.active = false;
		}

	}

}
