package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.RecordingDataSource;
import io.github.lockspring.testsupport.store.Instance;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * What does not depend on the database: options, the first connection, and what drivers
 * do in different ways.
 */
@ExtendWith(OutputCaptureExtension.class)
class JdbcLockStoreSettingsTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final Duration LONG = Duration.ofSeconds(30);

	private static final AtomicLong SEQUENCE = new AtomicLong();

	@Test
	void defaultsAreThoseOfTheDocumentation() {
		try (LockStore store = JdbcLockStore.builder(Databases.h2().dataSource()).build()) {
			assertThat(store).extracting("settings")
				.isEqualTo(new JdbcStoreSettings("lock:", "lock_lease", 5, Duration.ofSeconds(5), Duration.ofDays(30)));
		}
	}

	@Test
	void valuesOutOfBoundsAreNamed() {
		assertRefused((builder) -> builder.keyPrefix(""), "keyPrefix must not be empty");
		assertRefused((builder) -> builder.table("locks;"), "'locks;' is not a table name");
		assertRefused((builder) -> builder.connections(1), "connections must be at least 2", "but is 1");
		assertRefused((builder) -> builder.connectTimeout(Duration.ZERO),
				"connectTimeout must be at least 1ms, but is 0ms");
		assertRefused((builder) -> builder.purgeAfter(Duration.ofMinutes(59)), "purgeAfter must be at least PT1H",
				"but is PT59M");
	}

	private static void assertRefused(UnaryOperator<JdbcLockStore.Builder> option, String... message) {
		JdbcLockStore.Builder builder = option.apply(JdbcLockStore.builder(Databases.h2().dataSource()));
		assertThatIllegalArgumentException().isThrownBy(builder::build).withMessageContainingAll(message);
	}

	@Test
	@Tag("jdbc-other-databases")
	void unknownDatabaseIsRefusedByName() {
		RecordingDataSource oracle = new RecordingDataSource(Databases.h2().withLocks().dataSource(), "Oracle");
		try (LockStore store = JdbcLockStore.builder(oracle).build()) {
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(store, "a", token()))
				.withMessageContaining("'Oracle'")
				.withMessageContaining("use H2, PostgreSQL, MariaDB or MySQL");
		}
		assertThat(oracle.statements()).isEmpty();
	}

	@Test
	void closedStoreRefusesRequests() {
		LockStore store = JdbcLockStore.builder(Databases.h2().dataSource()).build();
		store.close();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(store, "a", token()))
			.withMessageContaining("closed");
	}

	@Test
	void connectsInTheBackgroundUntilItHasAConnection() {
		CountDownLatch open = new CountDownLatch(1);
		DataSource slow = slow(Databases.h2().withLocks().dataSource(), open);
		try (LockStore store = JdbcLockStore.builder(slow).connections(2).connectTimeout(TIMEOUT).build()) {
			CompletableFuture<Void> connected = store.connected().toCompletableFuture();
			assertThat(connected).isNotDone();
			open.countDown();
			assertThat(connected).succeedsWithin(TIMEOUT);
			assertThat(acquire(store, "a", token())).isInstanceOf(Acquired.class);
		}
	}

	@Test
	void connectingEndsWithItsTimeoutAndIsNotTriedAgain() {
		CountDownLatch open = new CountDownLatch(1);
		DataSource slow = slow(Databases.h2().withLocks().dataSource(), open);
		try (LockStore store = JdbcLockStore.builder(slow)
			.connections(2)
			.connectTimeout(Duration.ofMillis(300))
			.build()) {
			long begin = System.nanoTime();
			assertThat(store.connected().toCompletableFuture()).succeedsWithin(TIMEOUT);
			assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(299));
			assertThat(store.connected().toCompletableFuture()).isDone();
			open.countDown();
			await().until(() -> acquire(store, "a", token()) instanceof Acquired);
		}
		finally {
			open.countDown();
		}
	}

	private static DataSource slow(DataSource target, CountDownLatch open) {
		return new DelegatingDataSource(target) {

			@Override
			public Connection getConnection() throws SQLException {
				try {
					open.await();
				}
				catch (InterruptedException ex) {
					throw new SQLException(ex);
				}
				return super.getConnection();
			}

		};
	}

	@Test
	void missingTablesAreWarnedOfOnceBeforeTheFirstLock(CapturedOutput output) {
		RecordingDataSource database = new RecordingDataSource(Databases.h2().dataSource());
		try (LockStore store = JdbcLockStore.builder(database).build()) {
			assertThat(store.connected().toCompletableFuture()).succeedsWithin(TIMEOUT);
			assertThat(store.connected().toCompletableFuture()).isDone();
			assertThat(output).containsOnlyOnce("Requests for locks may fail until this is corrected")
				.contains("WARN")
				.contains("The lock table 'lock_lease' or its waiter table cannot be used");
		}
	}

	@ParameterizedTest // defect 6
	@CsvSource({ "'CockroachDB CCL v24.1.0 (x86_64-linux)', CockroachDB",
			"'PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64', YugabyteDB" })
	void databaseWithSeveralPrimariesIsWarnedOfOnce(String version, String name, CapturedOutput output) {
		DataSource source = new InterceptedDataSource(Databases.postgres().withLocks().dataSource(),
				(sql, method, arguments, call) -> {
					if (method.getName().equals("prepareStatement")) {
						arguments[0] = ((String) arguments[0]).replace("version()", "'" + version + "'");
					}
					return call.proceed();
				});
		try (LockStore store = JdbcLockStore.builder(source).build()) {
			assertThat(store.connected().toCompletableFuture()).succeedsWithin(TIMEOUT);
			assertThat(store.connected().toCompletableFuture()).isDone();
			assertThat(output).containsOnlyOnce("The database of the locks is " + name + " (" + version + ")");
		}
	}

	@Test // defect 43
	void messageHasTheReasonWithoutTheStatement() {
		for (Database database : List.of(Databases.h2(), Databases.postgres())) {
			try (LockStore store = JdbcLockStore.builder(database.dataSource()).build()) {
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> new JoinedStore(store).acquire(
							new AcquireRequest("a", new OwnerToken("settings-tests-0000001", 1, 5000), TIMEOUT, false),
							TIMEOUT))
					.withMessageContainingAll("lock_lease", "lock-lease-*.sql")
					.withMessageNotContaining("WHERE")
					.withMessageNotContaining("SQL statement");
			}
		}
	}

	/** Another database refuses it before it is executed, and recorded. */
	@Test
	void missingTableOfWaitersIsReadOnceAndFreeLocksDoNotNeedIt(CapturedOutput output) {
		Database database = Databases.postgres().withLocks();
		new JdbcTemplate(database.dataSource()).execute("DROP TABLE lock_lease_waiter");
		RecordingDataSource source = new RecordingDataSource(database.dataSource());
		// a request without a result would be repeated, and wait
		try (LockStore store = JdbcLockStore.builder(source).build();
				Instance instance = Instance.over(store).commandTimeout(TIMEOUT).start()) {
			for (int i = 0; i < 20; i++) {
				instance.locks().acquire(LockRequest.of("free " + i)).close();
			}
		}
		assertThat(source.statements().stream().filter((sql) -> sql.contains("lock_lease_waiter"))).hasSize(1);
		assertThat(output).containsOnlyOnce("Requests for locks may fail until this is corrected");
	}

	@Test
	void startOfTheTransactionIsNotTheTime() {
		assertThat(Dialect.POSTGRESQL.nowMicros()).contains("clock_timestamp()").doesNotContain("now()");
	}

	/** MariaDB's and older drivers of Oracle count nothing in a batch. */
	@Test
	void renewalsThatTheDriverDoesNotCountAreRepeatedOneByOne() {
		DataSource uncounting = new InterceptedDataSource(Databases.h2().withLocks().dataSource(),
				(sql, method, arguments, call) -> {
					Object result = call.proceed();
					if (result instanceof int[] counts) {
						Arrays.fill(counts, Statement.SUCCESS_NO_INFO);
					}
					return result;
				});
		try (LockStore store = JdbcLockStore.builder(uncounting).build()) {
			OwnerToken token = token();
			acquire(store, "a", token);
			acquire(store, "b", token);
			acquire(store, "c", token());
			assertThat(new JoinedStore(store)
				.renew(Stream.of("c", "b", "a").map((key) -> new RenewRequest(key, token, LONG)).toList(), TIMEOUT))
				.containsExactly(RenewResult.NOT_OWNER, RenewResult.RENEWED, RenewResult.RENEWED);
		}
	}

	/** MySQL counts only changed rows with useAffectedRows=true. */
	@Test
	void renewalThatIsShorterThanTheLeaseChangesTheRowToo() {
		Database database = Databases.h2().withLocks();
		JdbcTemplate rows = new JdbcTemplate(database.dataSource());
		try (LockStore store = JdbcLockStore.builder(database.dataSource()).build()) {
			OwnerToken token = token();
			acquire(store, "a", token);
			Long before = rows.queryForObject("SELECT expires_at FROM lock_lease", Long.class);
			assertThat(
					new JoinedStore(store).renew(List.of(new RenewRequest("a", token, Duration.ofSeconds(1))), TIMEOUT))
				.containsExactly(RenewResult.RENEWED);
			assertThat(rows.queryForObject("SELECT expires_at FROM lock_lease", Long.class)).isGreaterThan(before);
		}
	}

	private static OwnerToken token() {
		return new OwnerToken("jdbc-lock-store-tests-", SEQUENCE.incrementAndGet(), 1000);
	}

	private static AcquireResult acquire(LockStore store, String key, OwnerToken token) {
		return new JoinedStore(store).acquire(new AcquireRequest(key, token, LONG, false), TIMEOUT);
	}

}
