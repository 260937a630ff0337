package io.github.lockspring.failure;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.transaction.Verification;
import io.github.lockspring.redis.Instance;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the commit guard notices when a lock is lost while a transaction runs under it,
 * and what it cannot notice, on a real server and a real database. Named by the page that
 * says what is guaranteed.
 */
class CommitGuardFailureTests extends AbstractGuardFailureTests {

	/** Its first renewal comes after two seconds. */
	private static final LockRequest RENEWED = REQUEST.ttl(Duration.ofSeconds(6));

	@ParameterizedTest
	@EnumSource
	@Tag("overrun-fixed")
	@Tag("overrun-guard-remote")
	@Tag("side-effects")
	void f03WorkThatOutlastsItsTtlIsRolledBackByTheGuardAndItsSideEffectsStay(Verification verification) {
		List<String> sent = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> write(verification, FIXED, (lock) -> {
			sent.add("at once");
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void afterCommit() {
					sent.add("after the commit");
				}
			});
			isHeldByTheOther();
		}));
		boolean committed = verification == Verification.OFF;
		assertWritten(committed ? 1 : 0);
		assertThat(sent)
			.containsExactlyElementsOf(committed ? List.of("at once", "after the commit") : List.of("at once"));
	}

	@ParameterizedTest
	@EnumSource(names = { "LOCAL", "REMOTE" })
	@Tag("overrun-guard-remote")
	@Tag("overrun-renewed")
	void f03WorkUnderARenewedLockIsCommittedHoweverLongItTakes(Verification verification) {
		Duration ttl = Duration.ofSeconds(3);
		write(verification, REQUEST.ttl(ttl),
				(lock) -> assertThat(this.other.locks().tryAcquire(REQUEST.waitTime(ttl.plusSeconds(1)))).isEmpty());
		assertWritten(1);
	}

	@Test
	@Tag("commit-unreachable-guard")
	@Tag("renewal-stops-guard-remote")
	void f07WorkIsNotCommittedWhenItsLeaseRanOutWhileRedisWasSilent() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> write(Verification.LOCAL, REQUEST.ttl(Duration.ofSeconds(2)), (lock) -> {
				this.redis.pause();
				await().until(() -> !lock.isHeld());
			}));
		assertWritten(0);
	}

	@Test
	@Tag("pause-guard-remote")
	void f09StopBetweenTheCheckAndTheCommitIsNotNoticed() {
		JdbcTransactionManager transactions = this.database.transactions(Verification.REMOTE);
		transactions.addListener(new TransactionExecutionListener() {
			@Override
			public void beforeCommit(TransactionExecution transaction) {
				isHeldByTheOther();
			}
		});
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.mine.locks()
			.executeWithoutResult(FIXED.ttl(Duration.ofSeconds(3)), (lock) -> new TransactionTemplate(transactions)
				.executeWithoutResult((status) -> this.database.write("mine"))));
		assertWritten(1);
	}

	@Test
	@Tag("data-loss-fixed")
	@Tag("data-loss-guard")
	void f10LossOfDataIsNotNoticedUnderAFixedTtlWithoutRemoteVerification() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> write(Verification.LOCAL, LONG, (lock) -> {
			this.redis.flushAll();
			isHeldByTheOther();
		})).withMessageContaining("when it was released");
		assertWritten(1);
	}

	@ParameterizedTest
	@EnumSource(names = { "FLUSHED", "EVICTED" })
	@Tag("data-loss-guard")
	@Tag("eviction-fixed-guard")
	void f10LossOfDataIsNotNoticedLocallyBeforeTheNextRenewal(DataLoss loss) {
		write(Verification.LOCAL, LONG, (lock) -> lose(loss));
		write(Verification.LOCAL, LONG.renew(true), (lock) -> lose(loss));
		assertWritten(2);
		assertThat(this.mine.events(LockEvent.Lost.class)).isEmpty();
	}

	@ParameterizedTest
	@EnumSource(names = { "FLUSHED", "EVICTED" })
	@Tag("data-loss-guard")
	@Tag("data-loss-renewed")
	@Tag("eviction-fixed-guard")
	@Tag("eviction-renewed")
	@Tag("h33")
	void f10LossOfDataThatARenewalFoundIsNotCommitted(DataLoss loss) {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> write(Verification.LOCAL, RENEWED, (lock) -> {
				lose(loss);
				await().until(() -> !lock.isHeld());
			}))
			.withMessageContaining("according to the store");
		assertWritten(0);
	}

	@ParameterizedTest
	@EnumSource
	@Tag("data-loss-remote")
	@Tag("eviction-remote")
	void f10LossOfDataIsNotCommittedWithRemoteVerification(DataLoss loss) {
		for (LockRequest request : List.of(LONG, LONG.renew(true))) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> write(Verification.REMOTE, request, (lock) -> lose(loss)));
		}
		assertWritten(0);
	}

	@Test
	@SuppressWarnings("unchecked")
	@Tag("exception-of-the-work")
	void f03ExceptionWithWhichSpringWouldCommitGivesWayToTheLoss() {
		ProxyFactory proxies = new ProxyFactory((Callable<Void>) () -> {
			this.database.write("mine");
			isHeldByTheOther();
			throw new IOException("checked");
		});
		TransactionManager transactions = this.database.transactions(Verification.LOCAL);
		proxies.addAdvice(new TransactionInterceptor(transactions, new MatchAlwaysTransactionAttributeSource()));
		Callable<Void> work = (Callable<Void>) proxies.getProxy();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.mine.locks().execute(FIXED, (lock) -> work.call()));
		assertWritten(0);
	}

	@ParameterizedTest
	@EnumSource(names = { "OFF", "LOCAL" })
	@Tag("commit-unreachable-fixed")
	@Tag("commit-unreachable-guard")
	void f22WorkIsCommittedWithoutRedisAsLongAsItsLeaseLasts(Verification verification) {
		write(this.impatient, verification, LONG, (lock) -> this.redis.pause());
		assertWritten(1);
	}

	@Test
	@Tag("commit-unreachable-remote")
	void f22WorkIsNotCommittedWhenRemoteVerificationGetsNoReply() {
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> write(this.impatient, Verification.REMOTE, LONG, (lock) -> this.redis.pause()));
		assertWritten(0);
	}

	@ParameterizedTest
	@EnumSource
	@Tag("databases-fixed-renewed")
	@Tag("databases-guard-remote")
	void lossBetweenTwoCommitsStopsOnlyTheSecondAndNoneWithoutTheGuard(Verification verification) {
		GuardedDatabase second = new GuardedDatabase();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.mine.locks().executeWithoutResult(LONG, (lock) -> {
				this.database.transaction(verification).executeWithoutResult((status) -> this.database.write("mine"));
				this.redis.command("DEL", "lock:order:42");
				assertThatExceptionOfType(LockLostException.class).isThrownBy(((KeyedLock) lock)::verify);
				second.transaction(verification).executeWithoutResult((status) -> second.write("mine"));
			}));
		assertWritten(1);
		assertThat(second.read()).hasSize((verification == Verification.OFF) ? 1 : 0);
	}

	@Test
	@Tag("other-threads")
	void workOnAnotherThreadIsNotGuarded() {
		TransactionTemplate transaction = this.database.transaction(Verification.LOCAL);
		HeldLock lock = this.mine.locks().acquire(FIXED);
		isHeldByTheOther();
		transaction.executeWithoutResult((status) -> this.database.write("mine"));
		CompletableFuture.runAsync(() -> transaction.executeWithoutResult((status) -> this.database.write("mine")))
			.join();
		assertWritten(2);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::ensureHeld);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
	}

	private void write(Verification verification, LockRequest request, Consumer<KeyedLock> meanwhile) {
		write(this.mine, verification, request, meanwhile);
	}

	/**
	 * Writes in a transaction under the lock, and something happens before the commit.
	 */
	private void write(Instance instance, Verification verification, LockRequest request,
			Consumer<KeyedLock> meanwhile) {
		instance.locks()
			.executeWithoutResult(request,
					(lock) -> this.database.transaction(verification).executeWithoutResult((status) -> {
						this.database.write("mine");
						meanwhile.accept((KeyedLock) lock);
					}));
	}

	private void assertWritten(int count) {
		assertThat(this.database.read()).hasSize(count);
	}

	/** Somebody else gets the lock, works, and gives it back. */
	private void isHeldByTheOther() {
		this.other.locks().executeWithoutResult(REQUEST, HeldLock::ensureHeld);
	}

}
