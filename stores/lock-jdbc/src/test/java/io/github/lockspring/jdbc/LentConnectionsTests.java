package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.PostgresServer;
import io.github.lockspring.testsupport.network.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Callers execute their requests themselves on connections that workers lend them.
 */
class LentConnectionsTests {

	private static final Duration PATIENT = Duration.ofSeconds(30);

	private final List<HikariDataSource> pools = new ArrayList<>();

	private final List<JdbcExecutor> executors = new ArrayList<>();

	private final LentConnections lent = new LentConnections(2);

	private final Semaphore blocked = new Semaphore(0);

	@AfterEach
	void close() {
		this.lent.close();
		this.executors.forEach(JdbcExecutor::close);
		this.pools.forEach(HikariDataSource::close);
		Thread.interrupted();
	}

	private JdbcExecutor executor(Database database, int threads) {
		HikariDataSource pool = JdbcInstance.pool(database);
		pool.setConnectionTimeout(PATIENT.toMillis());
		this.pools.add(pool);
		return executor(pool, threads);
	}

	private JdbcExecutor executor(DataSource source, int threads) {
		JdbcExecutor executor = new JdbcExecutor(source, "lock_lease", "", "lending-tests", threads, this.lent);
		this.executors.add(executor);
		return executor;
	}

	/** Executes requests until a caller does so itself. */
	private JdbcExecutor lending(Database database) {
		JdbcExecutor executor = executor(database, 4);
		await().atMost(PATIENT).until(() -> isOwnThread(executor));
		return executor;
	}

	private static boolean isOwnThread(JdbcExecutor executor) {
		Thread caller = Thread.currentThread();
		return executor.execute((call) -> Thread.currentThread() == caller, PATIENT);
	}

	private static int number(JdbcCall call, int number) throws SQLException {
		return call.query(NamedStatement.parse("SELECT " + number), Map.of(), (result) -> result.getInt(1))
			.orElseThrow();
	}

	private static int active(HikariDataSource pool) {
		return pool.getHikariPoolMXBean().getActiveConnections();
	}

	@Test
	void lentConnectionsGoBackToThePoolAtTheEnd() {
		JdbcExecutor executor = lending(Databases.postgres());
		assertThat(active(this.pools.get(0))).isBetween(1, 2);
		this.lent.close();
		long begin = System.nanoTime();
		executor.close();
		if (System.nanoTime() - begin < Duration.ofMillis(500).toNanos()) {
			assertThat(active(this.pools.get(0))).as("close() waits for half a second at most").isZero();
		}
		await().until(() -> active(this.pools.get(0)) == 0);
	}

	/** The pool may be smaller than the store was told. */
	@Test
	void connectionIsRecalledWhenAWorkerWaitsForIt() throws Exception {
		JdbcExecutor executor = executor(Databases.postgres(), 4);
		this.pools.get(0).setMaximumPoolSize(1);
		await().atMost(PATIENT).until(() -> isOwnThread(executor));
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<Boolean> first = CompletableFuture.supplyAsync(() -> executor.execute((call) -> {
			begun.countDown();
			return call.query(NamedStatement.parse("SELECT 1 FROM pg_sleep(2.2)"), Map.of(), (result) -> true)
				.orElseThrow();
		}, PATIENT));
		begun.await();
		// recalled after a quarter of its timeout, while the first request goes on
		assertThat(executor.<Integer>execute((call) -> number(call, 2), Duration.ofSeconds(8))).isEqualTo(2);
		assertThat(first.get()).isTrue();
	}

	@Test
	void closesWhileALoanWaitsForAWorker() throws Exception {
		JdbcExecutor executor = executor(Databases.postgres(), 2);
		CountDownLatch first = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		CompletableFuture<Boolean> ended = blocked(executor, first);
		blocked(executor, end);
		// otherwise the two others could have both workers until the end
		assertThat(this.blocked.tryAcquire(2, PATIENT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		blocked(executor, end);
		first.countDown();
		ended.get();
		executor.close();
		end.countDown();
	}

	private CompletableFuture<Boolean> blocked(JdbcExecutor executor, CountDownLatch until) {
		return onOwnThread(() -> executor.execute((call) -> {
			this.blocked.release();
			try {
				return until.await(PATIENT.toSeconds(), TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				throw new SQLException(ex);
			}
		}, PATIENT));
	}

	/** An exception that left a thread would fail the await() of another test. */
	private static <T> CompletableFuture<T> onOwnThread(Supplier<T> work) {
		return CompletableFuture.supplyAsync(work, (task) -> new Thread(task).start());
	}

	@Test
	void slowStatementEndsNoLoan() {
		JdbcExecutor executor = lending(Databases.postgres());
		// more than a quarter of the timeout
		NamedStatement sleep = NamedStatement.parse("SELECT 1 FROM pg_sleep(1.3)");
		List<CompletableFuture<?>> slow = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			slow.add(onOwnThread(() -> executor.execute((call) -> call.query(sleep, Map.of(), (result) -> true),
					Duration.ofSeconds(5))));
		}
		slow.forEach(CompletableFuture::join);
		assertThat(isOwnThread(executor)).isTrue();
	}

	@Test
	void noMoreThanHalfOfTheConnectionsAreLent() {
		JdbcExecutor executor = executor(Databases.postgres(), 1);
		for (int i = 0; i < 20; i++) {
			assertThat(isOwnThread(executor)).isFalse();
		}
		await().atMost(PATIENT).until(() -> active(this.pools.get(0)) == 0);
	}

	/** An interrupt of the caller would close its database. */
	@Test
	void callersDoNotExecuteAnythingInH2() {
		JdbcExecutor executor = executor(Databases.h2(), 4);
		for (int i = 0; i < 20; i++) {
			assertThat(isOwnThread(executor)).isFalse();
		}
		await().atMost(PATIENT).until(() -> active(this.pools.get(0)) == 0);
	}

	@Test
	void f22CallerThatExecutesItsRequestItselfWaitsNoLongerThanItsTimeout() {
		try (PostgresServer server = PostgresServer.start(); TcpProxy proxy = new TcpProxy(server.port())) {
			JdbcExecutor executor = lending(server.database(proxy.port()));
			proxy.hold();
			long begin = System.nanoTime();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> executor.execute((call) -> number(call, 1) + number(call, 2), Duration.ofMillis(400)))
				.withMessageContaining("did not answer within 400 ms");
			assertThat(Duration.ofNanos(System.nanoTime() - begin)).isBetween(Duration.ofMillis(399), PATIENT);
			proxy.restore();
			// its connection was dropped: the late reply is that of no other request
			for (int i = 3; i < 20; i++) {
				int expected = i;
				assertThat(executor.<Integer>execute((call) -> number(call, expected), PATIENT)).isEqualTo(i);
			}
		}
	}

	/** The timeout is that of all statements together. */
	@Test
	void f22EachStatementHasTheTimeThatIsLeft() {
		JdbcExecutor executor = lending(Databases.postgres());
		NamedStatement sleep = NamedStatement.parse("SELECT 1 FROM pg_sleep(0.3)");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> executor.execute((call) -> {
			for (int i = 0; i < 100; i++) {
				call.query(sleep, Map.of(), (result) -> result.getInt(1));
			}
			return true;
		}, Duration.ofMillis(700))).withMessageContaining("did not answer within 700 ms");
	}

	@Test
	void conflictIsRepeated() {
		JdbcExecutor executor = lending(Databases.postgres());
		List<Thread> threads = new ArrayList<>();
		int result = executor.execute((call) -> {
			threads.add(Thread.currentThread());
			if (threads.size() < 3) {
				throw new SQLException("deadlock detected", "40P01");
			}
			return number(call, 7);
		}, PATIENT);
		assertThat(result).isEqualTo(7);
		assertThat(threads.get(0)).isSameAs(Thread.currentThread());
		assertThat(threads.get(1)).isNotSameAs(Thread.currentThread());
	}

	@Test
	void errorEndsTheLoanAndNotTheLending() {
		JdbcExecutor executor = lending(Databases.postgres());
		for (int i = 0; i < 10; i++) {
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> executor
				.execute((call) -> call.update(NamedStatement.parse("DROP nothing"), Map.of()), PATIENT));
		}
		await().atMost(PATIENT).until(() -> isOwnThread(executor));
	}

	/** The pool has none, perhaps since the server is down. */
	@Test
	void f22ConnectionThatIsLostLateDoesNotProlongTheTimeout() {
		CountDownLatch end = new CountDownLatch(1);
		AtomicBoolean blocked = new AtomicBoolean();
		JdbcExecutor executor = executor(blocking(Databases.postgres().dataSource(), blocked, end), 4);
		await().atMost(PATIENT).until(() -> isOwnThread(executor));
		blocked.set(true);
		long begin = System.nanoTime();
		try {
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> executor.execute((call) -> {
				await().pollDelay(Duration.ofMillis(7900)).until(() -> true);
				throw new SQLException("connection lost", "08006");
			}, Duration.ofSeconds(8)));
			// a quarter more without the end of the first wait
			assertThat(Duration.ofNanos(System.nanoTime() - begin)).isBetween(Duration.ofMillis(7900),
					Duration.ofMillis(9500));
		}
		finally {
			end.countDown();
		}
	}

	private static DataSource blocking(DataSource target, AtomicBoolean blocked, CountDownLatch end) {
		return new DelegatingDataSource(target) {

			@Override
			public Connection getConnection() throws SQLException {
				try {
					if (blocked.get()) {
						end.await();
					}
				}
				catch (InterruptedException ex) {
					throw new SQLException(ex);
				}
				return super.getConnection();
			}

		};
	}

	/** As after a restart of the server. A pool checks a connection before it is used. */
	@Test
	void f22ConnectionsThatHaveEndedWhileTheyWereIdleFailNoRequest() throws InterruptedException {
		Database database = Databases.postgres();
		JdbcExecutor executor = lending(database);
		// HikariCP checks those only that have been idle for half a second
		TimeUnit.MILLISECONDS.sleep(700);
		new JdbcTemplate(database.dataSource()).queryForList("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
				+ " WHERE datname = current_database() AND pid <> pg_backend_pid()");
		for (int i = 0; i < 6; i++) {
			int expected = i;
			assertThat(executor.<Integer>execute((call) -> number(call, expected), PATIENT)).isEqualTo(i);
		}
	}

	/** After a failover: the next connection may reach the new primary. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void f11ConnectionToAServerThatHasBecomeReadOnlyIsNotUsedAgain(boolean ownThread) {
		JdbcExecutor executor = executor(Databases.postgres(), ownThread ? 4 : 1);
		this.pools.get(0).setMaximumPoolSize(1);
		await().atMost(PATIENT).until(() -> isOwnThread(executor) == ownThread);
		update(executor, "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> update(executor, "CREATE TABLE written (id INT)"))
			.withMessageContaining("read-only");
		update(executor, "CREATE TABLE written (id INT)");
	}

	private static void update(JdbcExecutor executor, String sql) {
		executor.execute((call) -> call.update(NamedStatement.parse(sql), Map.of()), PATIENT);
	}

	/** Notifications of others are no part of a request. */
	@Test
	void connectionThatARequestHasLostWithoutFailingIsNotLentAgain() {
		JdbcExecutor executor = lending(Databases.postgres());
		NamedStatement end = NamedStatement.parse("SELECT pg_terminate_backend(pg_backend_pid())");
		executor.execute((call) -> assertThatExceptionOfType(SQLException.class)
			.isThrownBy(() -> call.query(end, Map.of(), (result) -> true)), PATIENT);
		for (int i = 0; i < 3; i++) {
			assertThat(executor.<Boolean>execute((call) -> call.connection().isClosed(), PATIENT)).isFalse();
		}
	}

	@Test
	void interruptIsKeptForTheCaller() {
		JdbcExecutor executor = lending(Databases.postgres());
		Thread.currentThread().interrupt();
		assertThat(executor.<Integer>execute((call) -> number(call, 5), PATIENT)).isEqualTo(5);
		assertThat(Thread.interrupted()).isTrue();
	}

}
