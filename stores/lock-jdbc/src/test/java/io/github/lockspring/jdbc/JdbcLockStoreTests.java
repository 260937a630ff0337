package io.github.lockspring.jdbc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.zaxxer.hikari.HikariDataSource;
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
import io.github.lockspring.testsupport.jdbc.RecordingDataSource;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the store does beyond the contract, on each database: statements, transactions,
 * clocks, timeouts, messages.
 */
@ParameterizedClass
@MethodSource("io.github.lockspring.jdbc.TestDatabases#each")
class JdbcLockStoreTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final Duration LONG = Duration.ofSeconds(30);

	private static final AtomicLong SEQUENCE = new AtomicLong();

	private final Database database;

	private final HikariDataSource pool;

	private final RecordingDataSource recording;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transaction;

	private final LockStore store;

	private final JoinedStore joined;

	JdbcLockStoreTests(Database database) {
		this.database = database;
		this.pool = patientPool();
		this.pool.setMaximumPoolSize(3);
		if (database.platform().equals("h2")) {
			// its default, by which a wait for a row ends
			this.pool.setConnectionInitSql("SET LOCK_TIMEOUT 2000");
		}
		this.recording = new RecordingDataSource(this.pool);
		this.jdbc = new JdbcTemplate(database.dataSource());
		this.transaction = new TransactionTemplate(new JdbcTransactionManager(this.jdbc.getDataSource()));
		this.store = JdbcLockStore.builder(this.recording)
			.connections(3)
			.connectTimeout(TIMEOUT)
			.purgeAfter(null)
			.build();
		this.joined = new JoinedStore(this.store);
	}

	private HikariDataSource patientPool() {
		HikariDataSource pool = JdbcInstance.pool(this.database);
		pool.setConnectionTimeout(TIMEOUT.toMillis());
		return pool;
	}

	@AfterEach
	void close() {
		this.store.close();
		this.pool.close();
	}

	@Test
	void freeLockCostsOneStatementEach() {
		OwnerToken first = token();
		acquire(this.store, "cost", first);
		release(this.store, "cost", first);
		OwnerToken token = token();
		assertThat(statements(() -> acquire(this.store, "cost", token)))
			.isEqualTo(this.database.platform().equals("mariadb") ? 2 : 1);
		assertThat(statements(() -> this.joined.renew(List.of(new RenewRequest("cost", token, LONG)), TIMEOUT)))
			.isOne();
		assertThat(statements(() -> release(this.store, "cost", token))).isOne();
	}

	private int statements(Runnable request) {
		this.recording.statements().clear();
		request.run();
		return this.recording.statements().size();
	}

	@Test
	void oneBatchRenewsManyLocks() {
		OwnerToken token = token();
		List<RenewRequest> requests = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			acquire(this.store, "many " + i, token);
			requests.add(new RenewRequest("many " + i, token, LONG.multipliedBy(2)));
		}
		assertThat(statements(
				() -> assertThat(this.joined.renew(requests, TIMEOUT)).hasSize(100).containsOnly(RenewResult.RENEWED)))
			.isOne();
		assertThat(((Busy) acquire(this.store, "many 7", token())).remainingMillis()).isGreaterThan(LONG.toMillis());
	}

	@Test
	void rowStaysAndShowsKeyAndOwner() {
		OwnerToken token = token();
		long fencingToken = ((Acquired) acquire(this.store, "shown", token)).fencingToken();
		String row = "SELECT owner, fencing_token FROM lock_lease WHERE lock_key = 'lock:shown'";
		assertThat(this.jdbc.queryForMap(row).values()).containsExactly(token.toString(), fencingToken);
		release(this.store, "shown", token);
		assertThat(this.jdbc.queryForMap(row).values()).containsExactly("-", fencingToken);
	}

	@Test
	@Tag("formats")
	void lockOfAnotherFormatIsBusyUntilItEnds() {
		OwnerToken token = token();
		acquire(this.store, "format", token);
		this.jdbc.update("UPDATE lock_lease SET owner = '2|other' WHERE lock_key = 'lock:format'");
		assertThat(acquire(this.store, "format", token)).isInstanceOf(Busy.class);
		assertThat(this.joined.renew(List.of(new RenewRequest("format", token, LONG)), TIMEOUT))
			.containsExactly(RenewResult.NOT_OWNER);
		release(this.store, "format", token);
		assertThat(acquire(this.store, "format", token())).isInstanceOf(Busy.class);
		this.jdbc.update("UPDATE lock_lease SET expires_at = 1 WHERE lock_key = 'lock:format'");
		assertThat(acquire(this.store, "format", token())).isInstanceOf(Acquired.class);
	}

	@Test
	void connectionsThatDoNotCommitBelongToThePoolAndNotToTheLock() {
		HikariDataSource other = patientPool();
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
		try (HikariDataSource own = patientPool();
				LockStore store = JdbcLockStore
					.builder(new InterceptedDataSource(own, (sql, method, arguments, call) -> {
						if (method.getName().matches("set(Long|Timestamp|Object)")) {
							numbers.add((Long) arguments[1]);
						}
						return call.proceed();
					}))
					.build()) {
			OwnerToken token = token();
			acquire(store, "clock", token);
			acquire(store, "clock", token());
			new JoinedStore(store).renew(List.of(new RenewRequest("clock", token, LONG)), TIMEOUT);
			release(store, "clock", token);
		}
		assertThat(numbers).isNotEmpty().allMatch((number) -> number <= TimeUnit.SECONDS.toMicros(30));
	}

	@Test
	@Tag("jdbc-clocks")
	@Tag("jdbc-time-zones")
	void f17TimeZoneOfTheSessionDoesNotMatter() {
		acquire(this.store, "zone", token());
		HikariDataSource east = patientPool();
		east.setConnectionInitSql(this.database.platform().equals("mariadb") ? "SET time_zone = '+13:00'"
				: "SET TIME ZONE 'Pacific/Kiritimati'");
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
				CyclicBarrier start = new CyclicBarrier(6);
				List<Future<AcquireResult>> results = executor.invokeAll(Collections.nCopies(6, () -> {
					start.await();
					return acquire(this.store, contended, token());
				}));
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
		this.transaction.executeWithoutResult((status) -> {
			lockRow("locked");
			long start = System.nanoTime();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.joined.release(new ReleaseRequest("locked", token), Duration.ofMillis(200)))
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
		try {
			this.transaction.executeWithoutResult((status) -> {
				lockRow("blocker");
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
				assertThat(this.joined.renew(List.of(new RenewRequest("own connection", token, LONG)),
						TIMEOUT.dividedBy(2)))
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
		this.transaction.executeWithoutResult((status) -> {
			lockRow("interrupted");
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
		try (LockStore store = JdbcLockStore.builder(this.pool).table("missing").build()) {
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(store, "a", token()))
				.withMessageContainingAll("The lock table 'missing' or its waiter table cannot be used",
						"lock-lease-*.sql", "distributed-lock.jdbc.initialize-schema");
		}
	}

	@Test
	@Tag("jdbc-purge-by-hand")
	@Tag("remains-jdbc")
	void statementOfTheScriptDeletesOldRowsAndNoOthers() throws IOException {
		String purge = statementOfTheScript("DELETE");
		for (String key : List.of("used today", "old")) {
			OwnerToken token = token();
			acquire(this.store, key, token);
			release(this.store, key, token);
		}
		acquire(this.store, "held since long", token());
		this.jdbc.update("UPDATE lock_lease SET fencing_token = fencing_token - ? WHERE lock_key IN (?, ?)",
				TimeUnit.DAYS.toMicros(30), "lock:old", "lock:held since long");
		assertThat(this.jdbc.update(purge)).isEqualTo(1);
		assertThat(this.jdbc.queryForList(
				"SELECT lock_key FROM lock_lease WHERE lock_key IN ('lock:old', 'lock:used today', 'lock:held since long')",
				String.class))
			.containsExactlyInAnyOrder("lock:used today", "lock:held since long");
	}

	@Test // defect 36
	void viewOfTheScriptMakesTimesReadable() throws IOException {
		this.jdbc.execute(statementOfTheScript("CREATE VIEW"));
		acquire(this.store, "seen in the view", token());
		String now = this.database.platform().equals("mariadb") ? "UTC_TIMESTAMP(6)" : "CURRENT_TIMESTAMP";
		assertThat(this.jdbc.queryForList(
				"SELECT lock_key FROM lock_lease_times WHERE acquired_at <= " + now + " AND expires_at > " + now,
				String.class))
			.contains("lock:seen in the view");
		this.jdbc.execute("DROP VIEW lock_lease_times");
	}

	/** Returns a statement from the comment of the script. */
	private String statementOfTheScript(String verb) throws IOException {
		String script = new ClassPathResource(
				"io/github/lockspring/jdbc/lock-lease-" + this.database.platform() + ".sql")
			.getContentAsString(StandardCharsets.UTF_8);
		Matcher statement = Pattern.compile("--\\s+(" + verb + " .*);").matcher(script);
		assertThat(statement.find()).isTrue();
		return statement.group(1);
	}

	private void lockRow(String key) {
		this.jdbc.queryForList("SELECT owner FROM lock_lease WHERE lock_key = ? FOR UPDATE", "lock:" + key);
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

}
