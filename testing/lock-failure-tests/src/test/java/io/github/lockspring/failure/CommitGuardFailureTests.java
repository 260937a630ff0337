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
import io.github.lockspring.internal.transaction.CommitGuard;
import io.github.lockspring.internal.transaction.Verification;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.jdbc.core.JdbcTemplate;
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
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * What the commit guard notices when a lock is lost while a transaction runs under it,
 * and what it cannot notice, on a real server and a real database. Named by the page that
 * says what is guaranteed.
 */
class CommitGuardFailureTests {

	private static final Duration SHORT = Duration.ofSeconds(2);

	private static final LockRequest REQUEST = LockRequest.of("order:42").waitTime(Duration.ofSeconds(20));

	private static final LockRequest FIXED = REQUEST.ttl(Duration.ofSeconds(1)).renew(false);

	private static final LockRequest RENEWED = REQUEST.ttl(SHORT);

	private static final LockRequest LONG = REQUEST.ttl(Duration.ofSeconds(30)).renew(false);

	private final RedisServer redis = RedisServer.start("--maxmemory", "4mb", "--maxmemory-policy", "volatile-ttl");

	private final Database database = new Database();

	private Instance mine;

	private Instance other;

	@BeforeEach
	void start() {
		this.mine = instance(Instance.patient(Driver.LETTUCE, this.redis.port()));
		this.other = instance(Instance.patient(Driver.LETTUCE, this.redis.port()));
	}

	/** For a server that does not reply: with the timeout of an application. */
	private void becomeImpatient() {
		this.mine.close();
		this.mine = instance(Instance.on(this.redis.port()));
	}

	private static Instance instance(Instance instance) {
		instance.locks().acquire(LockRequest.of("warm-up").waitTime(Duration.ofMinutes(1))).close();
		instance.events().clear();
		return instance;
	}

	@AfterEach
	void stop() {
		this.mine.close();
		this.other.close();
		this.redis.close();
		this.database.close();
	}

	@Test
	@Tag("overrun-fixed")
	void f03WithoutTheGuardWorkThatOutlastsItsTtlIsCommittedBesideTheNextHoldersWork() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> write(Verification.OFF, FIXED, this::isHeldByTheOther));
		assertThat(this.database.written()).isOne();
	}

	@ParameterizedTest
	@EnumSource(names = { "LOCAL", "REMOTE" })
	@Tag("overrun-guard-remote")
	void f03WorkThatOutlastsItsTtlIsNotCommitted(Verification verification) {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> write(verification, FIXED, this::isHeldByTheOther));
		assertThat(this.database.written()).isZero();
	}

	@ParameterizedTest
	@EnumSource(names = { "LOCAL", "REMOTE" })
	@Tag("overrun-guard-remote")
	void f03WorkUnderARenewedLockIsCommittedHoweverLongItTakes(Verification verification) {
		Duration ttl = Duration.ofSeconds(4);
		write(verification, REQUEST.ttl(ttl),
				(lock) -> assertThat(this.other.locks().tryAcquire(REQUEST.waitTime(ttl.plusSeconds(1)))).isEmpty());
		assertThat(this.database.written()).isOne();
	}

	@Test
	@Tag("commit-unreachable-guard")
	@Tag("renewal-stops-guard-remote")
	void f07WorkIsNotCommittedWhenItsLeaseRanOutWhileRedisWasSilent() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> write(Verification.LOCAL, RENEWED, (lock) -> {
				this.redis.pause();
				await().until(() -> !lock.isHeld());
			}));
		assertThat(this.database.written()).isZero();
		this.redis.resume();
	}

	@Test
	@Tag("pause-guard-remote")
	void f09StopBetweenTheCheckAndTheCommitIsNotNoticed() {
		JdbcTransactionManager transactions = this.database.transactions(Verification.REMOTE);
		transactions.addListener(new TransactionExecutionListener() {
			@Override
			public void beforeCommit(TransactionExecution transaction) {
				isHeldByTheOther(null);
			}
		});
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.mine.locks()
			.executeWithoutResult(FIXED.ttl(Duration.ofSeconds(3)).renew(false),
					(lock) -> new TransactionTemplate(transactions)
						.executeWithoutResult((status) -> this.database.write())));
		assertThat(this.database.written()).isOne();
	}

	@Test
	@Tag("data-loss-fixed")
	@Tag("data-loss-guard")
	void f10LossOfDataIsNotNoticedUnderAFixedTtlWithoutRemoteVerification() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> write(Verification.LOCAL, LONG, (lock) -> {
			this.redis.flushAll();
			isHeldByTheOther(lock);
		})).withMessageContaining("when it was released");
		assertThat(this.database.written()).isOne();
	}

	@Test
	@Tag("data-loss-guard")
	void f10LossOfDataIsNotNoticedLocallyBeforeTheNextRenewal() {
		write(Verification.LOCAL, LONG.renew(true), (lock) -> this.redis.flushAll());
		assertThat(this.database.written()).isOne();
		assertThat(this.mine.events(LockEvent.Lost.class)).isEmpty();
	}

	@Test
	@Tag("data-loss-guard")
	void f10LossOfDataThatARenewalFoundIsNotCommitted() {
		LockRequest request = REQUEST.ttl(Duration.ofSeconds(6));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> write(Verification.LOCAL, request, (lock) -> {
				this.redis.flushAll();
				await().until(() -> !lock.isHeld());
			}))
			.withMessageContaining("the store says");
		assertThat(this.database.written()).isZero();
	}

	@Test
	@Tag("data-loss-remote")
	void f10LossOfDataIsNotCommittedWithRemoteVerification() {
		for (LockRequest request : List.of(LONG, LONG.renew(true))) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> write(Verification.REMOTE, request, (lock) -> this.redis.flushAll()));
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> write(Verification.REMOTE, request, (lock) -> restart()));
		}
		assertThat(this.database.written()).isZero();
	}

	/** One request fails with its connection, and a verification is no repeated one. */
	private void restart() {
		this.redis.restart();
		await().ignoreExceptions().until(() -> this.mine.locks().execute(LockRequest.of("another"), HeldLock::isHeld));
	}

	@Test
	@Tag("data-loss-remote")
	@Tag("exception-of-the-work")
	void f10ExceptionOfTheWorkWins() {
		assertThatIllegalStateException().isThrownBy(() -> write(Verification.REMOTE, LONG, (lock) -> {
			this.redis.flushAll();
			isHeldByTheOther(lock);
			throw new IllegalStateException("of the work");
		}))
			.withMessage("of the work")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class));
		assertThat(this.database.written()).isZero();
	}

	@Test
	@SuppressWarnings("unchecked")
	@Tag("exception-of-the-work")
	void f03ExceptionWithWhichSpringWouldCommitGivesWayToTheLoss() {
		ProxyFactory proxies = new ProxyFactory((Callable<Void>) () -> {
			this.database.write();
			isHeldByTheOther(null);
			throw new IOException("checked");
		});
		TransactionManager transactions = this.database.transactions(Verification.LOCAL);
		proxies.addAdvice(new TransactionInterceptor(transactions, new MatchAlwaysTransactionAttributeSource()));
		Callable<Void> work = (Callable<Void>) proxies.getProxy();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.mine.locks().execute(FIXED, (lock) -> work.call()));
		assertThat(this.database.written()).isZero();
	}

	@ParameterizedTest
	@EnumSource(names = { "OFF", "LOCAL" })
	@Tag("commit-unreachable-fixed")
	@Tag("commit-unreachable-guard")
	void f22WorkIsCommittedWithoutRedisAsLongAsItsLeaseLasts(Verification verification) {
		becomeImpatient();
		write(verification, LONG, (lock) -> this.redis.pause());
		assertThat(this.database.written()).isOne();
		this.redis.resume();
	}

	@Test
	@Tag("commit-unreachable-remote")
	void f22WorkIsNotCommittedWhenRemoteVerificationGetsNoReply() {
		becomeImpatient();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> write(Verification.REMOTE, LONG, (lock) -> this.redis.pause()));
		assertThat(this.database.written()).isZero();
		this.redis.resume();
	}

	@Test
	@Tag("eviction-fixed-guard")
	void evictedLockIsNotNoticedBeforeTheNextRenewalWithoutRemoteVerification() {
		write(Verification.LOCAL, LONG, (lock) -> this.redis.evict("lock:order:42"));
		write(Verification.LOCAL, LONG.renew(true), (lock) -> this.redis.evict("lock:order:42"));
		assertThat(this.database.written()).isEqualTo(2);
	}

	@Test
	@Tag("eviction-fixed-guard")
	@Tag("eviction-renewed")
	@Tag("h33")
	void evictedLockIsFoundByTheNextRenewal() {
		LockRequest request = REQUEST.ttl(Duration.ofSeconds(6));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> write(Verification.LOCAL, request, (lock) -> {
				this.redis.evict("lock:order:42");
				await().until(() -> !lock.isHeld());
			}))
			.withMessageContaining("the store says");
		assertThat(this.database.written()).isZero();
	}

	@Test
	@Tag("eviction-remote")
	void evictedLockIsNotCommittedWithRemoteVerification() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> write(Verification.REMOTE, LONG, (lock) -> this.redis.evict("lock:order:42")));
		assertThat(this.database.written()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	@Tag("databases-fixed-renewed")
	@Tag("databases-guard-remote")
	void lossBetweenTwoCommitsStopsOnlyTheSecondAndNoneWithoutTheGuard(Verification verification) {
		try (Database second = new Database()) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.mine.locks().executeWithoutResult(LONG, (lock) -> {
					this.database.transaction(verification).executeWithoutResult((status) -> this.database.write());
					this.redis.command("DEL", "lock:order:42");
					assertThatExceptionOfType(LockLostException.class).isThrownBy(((KeyedLock) lock)::verify);
					second.transaction(verification).executeWithoutResult((status) -> second.write());
				}));
			assertThat(this.database.written()).isOne();
			assertThat(second.written()).isEqualTo((verification == Verification.OFF) ? 1 : 0);
		}
	}

	@ParameterizedTest
	@EnumSource
	@Tag("side-effects")
	void whatIsNotPartOfTheTransactionStaysWhenItIsRolledBack(Verification verification) {
		List<String> sent = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> write(verification, FIXED, (lock) -> {
			sent.add("at once");
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void afterCommit() {
					sent.add("after the commit");
				}
			});
			isHeldByTheOther(lock);
		}));
		boolean committed = verification == Verification.OFF;
		assertThat(this.database.written()).isEqualTo(committed ? 1 : 0);
		assertThat(sent)
			.containsExactlyElementsOf(committed ? List.of("at once", "after the commit") : List.of("at once"));
	}

	@Test
	@Tag("other-threads")
	void workOnAnotherThreadIsNotGuarded() {
		TransactionTemplate transaction = this.database.transaction(Verification.LOCAL);
		HeldLock lock = this.mine.locks().acquire(FIXED);
		isHeldByTheOther(lock);
		transaction.executeWithoutResult((status) -> this.database.write());
		CompletableFuture.runAsync(() -> transaction.executeWithoutResult((status) -> this.database.write())).join();
		assertThat(this.database.written()).isEqualTo(2);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::ensureHeld);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
	}

	/**
	 * Writes in a transaction under the lock, and something happens before the commit.
	 */
	private void write(Verification verification, LockRequest request, Consumer<KeyedLock> meanwhile) {
		this.mine.locks()
			.executeWithoutResult(request,
					(lock) -> this.database.transaction(verification).executeWithoutResult((status) -> {
						this.database.write();
						meanwhile.accept((KeyedLock) lock);
					}));
	}

	/** Somebody else gets the lock, works, and gives it back. */
	private void isHeldByTheOther(HeldLock lock) {
		this.other.locks().executeWithoutResult(REQUEST, HeldLock::ensureHeld);
	}

	/**
	 * A table that counts what was committed.
	 */
	private static final class Database implements AutoCloseable {

		private final JdbcConnectionPool dataSource = JdbcConnectionPool.create("jdbc:h2:mem:" + System.nanoTime(),
				"sa", "");

		private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);

		Database() {
			this.jdbc.execute("CREATE TABLE entries (id INT)");
		}

		JdbcTransactionManager transactions(Verification verification) {
			JdbcTransactionManager transactions = new JdbcTransactionManager(this.dataSource);
			transactions.addListener(
					new CommitGuard(() -> new CommitGuard.Settings(verification, Duration.ofMillis(50)), (lock) -> {
					}));
			return transactions;
		}

		TransactionTemplate transaction(Verification verification) {
			return new TransactionTemplate(transactions(verification));
		}

		void write() {
			this.jdbc.update("INSERT INTO entries VALUES (1)");
		}

		int written() {
			Integer count = this.jdbc.queryForObject("SELECT COUNT(*) FROM entries", Integer.class);
			return (count != null) ? count : -1;
		}

		@Override
		public void close() {
			this.dataSource.dispose();
		}

	}

}
