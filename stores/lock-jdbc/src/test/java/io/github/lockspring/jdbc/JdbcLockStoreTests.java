package io.github.lockspring.jdbc;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult.Released;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.RecordingDataSource;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * What the store does beyond the contract, on each database: statements, transactions,
 * clocks, timeouts, messages.
 */
@ExtendWith(OutputCaptureExtension.class)
class JdbcLockStoreTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final Duration LONG = Duration.ofSeconds(30);

	private static final AtomicLong SEQUENCE = new AtomicLong();

	@Nested
	class OnH2 extends OnDatabase {

		OnH2() {
			super(Databases.h2(), Databases.h2(), 1);
		}

	}

	@Nested
	class OnPostgres extends OnDatabase {

		OnPostgres() {
			super(Databases.postgres(), Databases.postgres(), 1);
		}

		@Test
		void startOfTheTransactionIsNotTheTime() {
			assertThat(Dialect.POSTGRESQL.nowMicros()).contains("clock_timestamp()").doesNotContain("now()");
		}

		/** Another database refuses it before it is executed, and recorded. */
		@Test
		void missingTableOfWaitersIsReadOnceAndFreeLocksDoNotNeedIt(CapturedOutput output) {
			Database database = Databases.postgres().withLocks();
			new JdbcTemplate(database.dataSource()).execute("DROP TABLE lock_lease_waiter");
			RecordingDataSource source = new RecordingDataSource(database.dataSource());
			try (JdbcInstance instance = JdbcInstance.on(database, source)) {
				for (int i = 0; i < 20; i++) {
					instance.locks().acquire(LockRequest.of("free " + i)).close();
				}
			}
			assertThat(source.statements().stream().filter((sql) -> sql.contains("lock_lease_waiter"))).hasSize(1);
			assertThat(output).containsOnlyOnce("Requests for locks fail, or cannot wait, until this is corrected");
		}

	}

	@Nested
	@EnabledIfSystemProperty(named = "lockspring.mariadb", matches = ".+")
	class OnMariaDb extends OnDatabase {

		OnMariaDb() {
			super(Databases.mariaDb().orElseThrow(), Databases.mariaDb().orElseThrow(), 2);
		}

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

	@Test
	void databaseThatHasRefusedARequestForGoodIsAskedOnceBeforeTheFirstLock(CapturedOutput output) {
		RecordingDataSource database = new RecordingDataSource(Databases.h2().dataSource());
		try (LockStore store = JdbcLockStore.builder(database).build()) {
			assertThat(store.connected().toCompletableFuture()).succeedsWithin(TIMEOUT);
			assertThat(store.connected().toCompletableFuture()).isDone();
			assertThat(output).containsOnlyOnce("Requests for locks fail, or cannot wait, until this is corrected");
		}
	}

	/** MariaDB's and older drivers of Oracle count nothing in a batch. */
	@Test
	void renewalsThatTheDriverDoesNotCountAreRepeatedOneByOne() {
		DataSource uncounting = uncounting(Databases.h2().withLocks().dataSource());
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

	private static DataSource uncounting(DataSource target) {
		return new DelegatingDataSource(target) {

			@Override
			public Connection getConnection() throws SQLException {
				return uncounting(Connection.class, super.getConnection());
			}

			private <T> T uncounting(Class<T> type, T delegate) {
				return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
						(proxy, method, arguments) -> {
							Object result = method.invoke(delegate, arguments);
							if (result instanceof PreparedStatement statement) {
								return uncounting(PreparedStatement.class, statement);
							}
							if (result instanceof int[] counts) {
								Arrays.fill(counts, Statement.SUCCESS_NO_INFO);
							}
							return result;
						}));
			}

		};
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

	private static OwnerToken token() {
		return new OwnerToken("jdbc-lock-store-tests-", SEQUENCE.incrementAndGet(), 1000);
	}

	private static AcquireResult acquire(LockStore store, String key, OwnerToken token) {
		return new JoinedStore(store).acquire(new AcquireRequest(key, token, LONG, false), TIMEOUT);
	}

	private static boolean release(LockStore store, String key, OwnerToken token) {
		return new JoinedStore(store).release(new ReleaseRequest(key, token), TIMEOUT) instanceof Released;
	}

	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class OnDatabase {

		private final Database database;

		private final Database empty;

		/** With RETURNING one statement, otherwise two. */
		private final int statementsOfAnAcquisition;

		private final HikariDataSource pool = new HikariDataSource();

		private final RecordingDataSource recording = new RecordingDataSource(this.pool);

		private final JdbcTemplate jdbc;

		private final LockStore store;

		private final String key = "order 1";

		OnDatabase(Database database, Database empty, int statementsOfAnAcquisition) {
			this.database = database;
			this.empty = empty;
			this.statementsOfAnAcquisition = statementsOfAnAcquisition;
			this.pool.setJdbcUrl(database.url());
			this.pool.setUsername(database.user());
			this.pool.setPassword(database.password());
			this.pool.setMaximumPoolSize(3);
			this.pool.setConnectionTimeout(TIMEOUT.toMillis());
			if (database.platform().equals("h2")) {
				// its default, by which a wait for a row ends
				this.pool.setConnectionInitSql("SET LOCK_TIMEOUT 2000");
			}
			this.jdbc = new JdbcTemplate(database.dataSource());
			this.store = JdbcLockStore.builder(this.recording)
				.connections(3)
				.connectTimeout(TIMEOUT)
				.purgeAfter(null)
				.build();
		}

		@BeforeAll
		void createTable() {
			this.database.withLocks();
		}

		@AfterAll
		void close() {
			this.store.close();
			this.pool.close();
		}

		@Test
		void freeLockCostsOneStatementEach() {
			OwnerToken first = token();
			acquire(this.store, "cost", first);
			release(this.store, "cost", first);
			this.recording.statements().clear();
			OwnerToken token = token();
			acquire(this.store, "cost", token);
			assertThat(this.recording.statements()).hasSize(this.statementsOfAnAcquisition);
			this.recording.statements().clear();
			assertThat(new JoinedStore(this.store).renew(List.of(new RenewRequest("cost", token, LONG)), TIMEOUT))
				.containsExactly(RenewResult.RENEWED);
			assertThat(this.recording.statements()).hasSize(1);
			this.recording.statements().clear();
			release(this.store, "cost", token);
			assertThat(this.recording.statements()).hasSize(1);
		}

		@Test
		void oneBatchRenewsManyLocks() {
			List<RenewRequest> requests = new ArrayList<>();
			for (int i = 0; i < 100; i++) {
				OwnerToken token = token();
				acquire(this.store, "many " + i, token);
				requests.add(new RenewRequest("many " + i, token, LONG.multipliedBy(2)));
			}
			this.recording.statements().clear();
			assertThat(new JoinedStore(this.store).renew(requests, TIMEOUT)).hasSize(100)
				.containsOnly(RenewResult.RENEWED);
			assertThat(this.recording.statements()).hasSize(1);
			assertThat(((Busy) acquire(this.store, "many 7", token())).remainingMillis())
				.isGreaterThan(LONG.toMillis());
		}

		@Test
		void rowStaysAndShowsKeyAndOwner() {
			OwnerToken token = token();
			long fencingToken = ((Acquired) acquire(this.store, "shown", token)).fencingToken();
			assertThat(
					this.jdbc.queryForMap("SELECT owner, fencing_token FROM lock_lease WHERE lock_key = 'lock:shown'")
						.values())
				.containsExactly(token.toString(), fencingToken);
			release(this.store, "shown", token);
			assertThat(
					this.jdbc.queryForMap("SELECT owner, fencing_token FROM lock_lease WHERE lock_key = 'lock:shown'")
						.values())
				.containsExactly("-", fencingToken);
		}

		@Test
		void f25RollbackOfTheCallerDoesNotReleaseItsLock() {
			OwnerToken token = token();
			TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(this.recording));
			transaction.executeWithoutResult((status) -> {
				acquire(this.store, "rollback", token);
				status.setRollbackOnly();
			});
			assertThat(acquire(this.store, "rollback", token())).isInstanceOf(Busy.class);
		}

		@Test
		void connectionsThatDoNotCommitBelongToThePoolAndNotToTheLock() {
			HikariDataSource other = new HikariDataSource();
			other.setJdbcUrl(this.database.url());
			other.setUsername(this.database.user());
			other.setPassword(this.database.password());
			other.setAutoCommit(false);
			try (other; LockStore store = JdbcLockStore.builder(other).build()) {
				acquire(store, "auto-commit", token());
			}
			assertThat(acquire(this.store, "auto-commit", token())).isInstanceOf(Busy.class);
		}

		/** An application whose clock is wrong by an hour cannot do harm with it. */
		@Test
		@Tag("jdbc-clocks")
		void f17NoTimeOfTheApplicationIsSent() {
			List<Long> numbers = new CopyOnWriteArrayList<>();
			try (HikariDataSource own = JdbcInstance.pool(this.database);
					LockStore store = JdbcLockStore.builder(recordingNumbers(own, numbers)).build()) {
				OwnerToken token = token();
				acquire(store, "clock", token);
				acquire(store, "clock", token());
				new JoinedStore(store).renew(List.of(new RenewRequest("clock", token, LONG)), TIMEOUT);
				release(store, "clock", token);
			}
			assertThat(numbers).isNotEmpty().allMatch((number) -> number <= TimeUnit.SECONDS.toMicros(30));
		}

		private static DataSource recordingNumbers(DataSource target, List<Long> numbers) {
			return new DelegatingDataSource(target) {

				@Override
				public Connection getConnection() throws SQLException {
					return recording(Connection.class, super.getConnection());
				}

				private <T> T recording(Class<T> type, T delegate) {
					return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
							(proxy, method, arguments) -> {
								if (method.getName().matches("set(Long|Timestamp|Object)")) {
									numbers.add((Long) arguments[1]);
								}
								Object result = method.invoke(delegate, arguments);
								return (result instanceof PreparedStatement statement)
										? recording(PreparedStatement.class, statement) : result;
							}));
				}

			};
		}

		@Test
		@Tag("jdbc-clocks")
		@Tag("jdbc-time-zones")
		void f17TimeZoneOfTheSessionDoesNotMatter() {
			acquire(this.store, "zone", token());
			String set = switch (this.database.platform()) {
				case "h2" -> "SET TIME ZONE 'Pacific/Kiritimati'";
				case "postgresql" -> "SET TIME ZONE 'Pacific/Kiritimati'";
				default -> "SET time_zone = '+13:00'";
			};
			HikariDataSource east = new HikariDataSource();
			east.setJdbcUrl(this.database.url());
			east.setUsername(this.database.user());
			east.setPassword(this.database.password());
			east.setConnectionInitSql(set);
			try (east; LockStore store = JdbcLockStore.builder(east).build()) {
				assertThat(((Busy) acquire(store, "zone", token())).remainingMillis()).isBetween(1L, LONG.toMillis());
			}
		}

		@Test
		void newRowIsInsertedByOneOfMany() throws Exception {
			ExecutorService executor = Executors.newFixedThreadPool(6);
			try {
				for (int round = 0; round < 20; round++) {
					String contended = "new " + round;
					CountDownLatch start = new CountDownLatch(1);
					List<Future<AcquireResult>> results = new ArrayList<>();
					for (int i = 0; i < 6; i++) {
						Callable<AcquireResult> request = () -> {
							start.await();
							return acquire(this.store, contended, token());
						};
						results.add(executor.submit(request));
					}
					start.countDown();
					int acquired = 0;
					for (Future<AcquireResult> result : results) {
						acquired += (result.get() instanceof Acquired) ? 1 : 0;
					}
					assertThat(acquired).isEqualTo(1);
				}
			}
			finally {
				executor.shutdownNow();
			}
		}

		@Test
		void keysOfAnyLengthAndCharactersAreDifferentLocks() {
			List<String> keys = List.of("Straße", "STRASSE", "straße", "a", "A", "a ", "x".repeat(300), "x".repeat(301),
					"nul\0", "nul", "\uD83D\uDD12");
			for (String each : keys) {
				assertThat(acquire(this.store, each, token())).as(each).isInstanceOf(Acquired.class);
			}
			for (String each : keys) {
				assertThat(acquire(this.store, each, token())).as(each).isInstanceOf(Busy.class);
			}
		}

		@Test
		@Tag("jdbc-timeouts")
		void f22CallerWaitsNoLongerThanItsTimeoutForALockedRow() {
			OwnerToken token = token();
			acquire(this.store, "locked", token);
			TransactionTemplate transaction = new TransactionTemplate(
					new JdbcTransactionManager(this.jdbc.getDataSource()));
			transaction.executeWithoutResult((status) -> {
				this.jdbc.queryForList("SELECT owner FROM lock_lease WHERE lock_key = 'lock:locked' FOR UPDATE");
				long start = System.nanoTime();
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> new JoinedStore(this.store).release(new ReleaseRequest("locked", token),
							Duration.ofMillis(200)))
					.withMessageContaining("did not reply within 200 ms");
				// PostgreSQL lets a statement wait for ever
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
				// another row, on another connection
				assertThat(acquire(this.store, "not locked", token())).isInstanceOf(Acquired.class);
			});
			await().until(() -> acquire(this.store, "locked", token()) instanceof Acquired
					|| release(this.store, "locked", token));
		}

		/** Callers that have to wait for each other do not use the last connection. */
		@Test
		@Tag("jdbc-timeouts")
		void renewalHasAConnectionOfItsOwn() {
			OwnerToken token = token();
			acquire(this.store, "own connection", token);
			acquire(this.store, "blocker", token);
			CountDownLatch begun = new CountDownLatch(4);
			ExecutorService executor = Executors.newFixedThreadPool(4);
			TransactionTemplate transaction = new TransactionTemplate(
					new JdbcTransactionManager(this.jdbc.getDataSource()));
			try {
				transaction.executeWithoutResult((status) -> {
					this.jdbc.queryForList("SELECT owner FROM lock_lease WHERE lock_key = 'lock:blocker' FOR UPDATE");
					for (int i = 0; i < 4; i++) {
						executor.submit(() -> {
							begun.countDown();
							return release(this.store, "blocker", token);
						});
					}
					await().until(() -> begun.getCount() == 0);
					// long enough for a third and a fourth one to take the last
					await().during(Duration.ofMillis(500))
						.until(() -> this.pool.getHikariPoolMXBean().getActiveConnections() == 2);
					// before they give up
					assertThat(new JoinedStore(this.store)
						.renew(List.of(new RenewRequest("own connection", token, LONG)), TIMEOUT.dividedBy(2)))
						.containsExactly(RenewResult.RENEWED);
				});
			}
			finally {
				executor.shutdown();
			}
		}

		/** H2 ends its wait for the row, and loses the interrupt. */
		@Test
		@Tag("jdbc-interrupts")
		void interruptEndsNoRequest() throws Exception {
			OwnerToken token = token();
			acquire(this.store, "interrupted", token);
			FutureTask<Boolean> release = new FutureTask<>(() -> release(this.store, "interrupted", token));
			Thread caller = new Thread(release);
			TransactionTemplate transaction = new TransactionTemplate(
					new JdbcTransactionManager(this.jdbc.getDataSource()));
			transaction.executeWithoutResult((status) -> {
				this.jdbc.queryForList("SELECT owner FROM lock_lease WHERE lock_key = 'lock:interrupted' FOR UPDATE");
				this.recording.statements().clear();
				caller.start();
				await().until(() -> !this.recording.statements().isEmpty());
				caller.interrupt();
			});
			assertThat(release.get(1, TimeUnit.MINUTES)).as("released").isTrue();
			assertThat(acquire(this.store, "interrupted", token())).isInstanceOf(Acquired.class);
		}

		@Test
		@Tag("jdbc-tables")
		void missingTableIsNamedWithItsRemedy() {
			try (LockStore store = JdbcLockStore.builder(this.empty.dataSource()).build()) {
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> acquire(store, this.key, token()))
					.withMessageContaining("The lock table 'lock_lease' or its waiter table cannot be used")
					.withMessageContaining("lock-lease-*.sql")
					.withMessageContaining("distributed-lock.jdbc.initialize-schema");
			}
		}

		@Test
		void missingTablesAreWarnedOfBeforeTheFirstLock(CapturedOutput output) {
			try (LockStore store = JdbcLockStore.builder(this.empty.dataSource()).build()) {
				store.connected();
				await().untilAsserted(() -> assertThat(output).contains("WARN")
					.contains("The lock table 'lock_lease' or its waiter table cannot be used")
					.contains("Requests for locks fail, or cannot wait, until this is corrected"));
			}
		}

		@Test
		void serverThatIsNotThereIsUnavailable() {
			DriverManagerDataSource nowhere = new DriverManagerDataSource("jdbc:postgresql://127.0.0.1:1/none");
			try (LockStore store = JdbcLockStore.builder(nowhere).build()) {
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> acquire(store, this.key, token()))
					.withMessageContaining("The lock database cannot be used");
			}
		}

		@Test
		void closedStoreRefusesRequests() {
			LockStore store = JdbcLockStore.builder(this.pool).build();
			store.close();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> acquire(store, this.key, token()))
				.withMessageContaining("closed");
		}

		@Test
		@Tag("jdbc-purge-by-hand")
		@Tag("remains-jdbc")
		void statementOfTheScriptDeletesOldRowsAndNoOthers() throws IOException {
			String script = new ClassPathResource(
					"io/github/lockspring/jdbc/lock-lease-" + this.database.platform() + ".sql")
				.getContentAsString(StandardCharsets.UTF_8);
			Matcher purge = Pattern.compile("--\\s+(DELETE .*);").matcher(script);
			assertThat(purge.find()).isTrue();
			OwnerToken used = token();
			acquire(this.store, "used today", used);
			release(this.store, "used today", used);
			acquire(this.store, "held since long", token());
			long lastMonth = TimeUnit.DAYS.toMicros(30);
			this.jdbc.update(
					"UPDATE lock_lease SET fencing_token = fencing_token - ? WHERE lock_key = 'lock:held since long'",
					lastMonth);
			OwnerToken old = token();
			acquire(this.store, "old", old);
			release(this.store, "old", old);
			this.jdbc.update("UPDATE lock_lease SET fencing_token = fencing_token - ? WHERE lock_key = 'lock:old'",
					lastMonth);
			assertThat(this.jdbc.update(purge.group(1))).isEqualTo(1);
			assertThat(this.jdbc.queryForList(
					"SELECT lock_key FROM lock_lease WHERE lock_key IN ('lock:old', 'lock:used today', 'lock:held since long')",
					String.class))
				.containsExactlyInAnyOrder("lock:used today", "lock:held since long");
		}

	}

}
