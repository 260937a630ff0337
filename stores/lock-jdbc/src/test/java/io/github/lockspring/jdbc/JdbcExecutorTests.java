package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.PostgresServer;
import io.github.lockspring.testsupport.jdbc.RecordingDataSource;
import io.github.lockspring.testsupport.network.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The way of a request to the database: its thread, connection, timeout and interrupts.
 */
class JdbcExecutorTests {

	private static final Duration PATIENT = Duration.ofSeconds(30);

	private static final Duration SHORT = Duration.ofMillis(200);

	private final List<AutoCloseable> opened = new ArrayList<>();

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable each : this.opened) {
			each.close();
		}
	}

	private JdbcExecutor executor(DataSource source) {
		JdbcExecutor executor = new JdbcExecutor(source, "lock_lease", "", 1);
		this.opened.add(0, executor);
		return executor;
	}

	private HikariDataSource pool(Database database, int size) {
		HikariDataSource pool = JdbcInstance.pool(database);
		pool.setMaximumPoolSize(size);
		pool.setConnectionTimeout(PATIENT.toMillis());
		this.opened.add(pool);
		return pool;
	}

	private static int number(JdbcCall call, int number) throws SQLException {
		return call.query(NamedStatement.parse("SELECT " + number), Map.of(), (result) -> result.getInt(1))
			.orElseThrow();
	}

	private static DataSource before(DataSource target, Runnable action) {
		return new DelegatingDataSource(target) {
			@Override
			public Connection getConnection() throws SQLException {
				action.run();
				return super.getConnection();
			}
		};
	}

	private static void sleep(Duration time) {
		try {
			TimeUnit.NANOSECONDS.sleep(time.toNanos());
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void requestThatGetsItsConnectionTooLateIsNotCarriedOut() {
		RecordingDataSource database = new RecordingDataSource(
				before(Databases.h2().dataSource(), () -> sleep(SHORT.multipliedBy(2))));
		JdbcExecutor executor = executor(database);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> executor.execute((call) -> number(call, 1), SHORT))
			.withMessageContaining("did not reply within 200 ms");
		executor.execute((call) -> number(call, 2), PATIENT);
		assertThat(database.statements()).containsExactly("SELECT 2");
	}

	@Test
	void requestWhoseTimeIsOverEndsBeforeItsNextStatement() {
		RecordingDataSource database = new RecordingDataSource(Databases.h2().dataSource());
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> executor(database).execute((call) -> {
				number(call, 1);
				sleep(SHORT.multipliedBy(2));
				return number(call, 2);
			}, SHORT))
			.withMessageContaining("did not reply within 200 ms");
		assertThat(database.statements()).doesNotContain("SELECT 2");
	}

	@Test
	@Tag("jdbc-timeouts")
	void f22CallerWaitsNoLongerThanItsTimeoutForASilentServer() {
		try (PostgresServer server = PostgresServer.start(); TcpProxy proxy = new TcpProxy(server.port())) {
			HikariDataSource pool = pool(server.database(proxy.port()), 1);
			JdbcExecutor executor = executor(pool);
			executor.execute((call) -> number(call, 0), PATIENT);
			// a connection that was used a moment ago is not checked first
			proxy.hold();
			long begin = System.nanoTime();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> executor.execute((call) -> number(call, 1) + number(call, 2), Duration.ofMillis(400)))
				.withMessageContaining("did not reply within 400 ms");
			assertThat(Duration.ofNanos(System.nanoTime() - begin)).isBetween(Duration.ofMillis(399),
					PATIENT.dividedBy(2));
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
		JdbcExecutor executor = executor(Databases.postgres().dataSource());
		NamedStatement sleep = NamedStatement.parse("SELECT 1 FROM pg_sleep(0.3)");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> executor.execute((call) -> {
			for (int i = 0; i < 100; i++) {
				call.query(sleep, Map.of(), (result) -> result.getInt(1));
			}
			return true;
		}, Duration.ofMillis(700))).withMessageContaining("did not reply within 700 ms");
	}

	/** As of a pool that does not do so itself. */
	@Test
	void connectionIsGivenBackWithTheTimeoutThatItHad() throws SQLException {
		try (Connection connection = Databases.postgres().dataSource().getConnection()) {
			connection.setNetworkTimeout(Runnable::run, 12_345);
			JdbcExecutor executor = executor(new SingleConnectionDataSource(connection, true));
			int during = executor.execute((call) -> {
				number(call, 1);
				return call.connection().getNetworkTimeout();
			}, PATIENT);
			assertThat(during).isBetween(1, (int) PATIENT.toMillis()).isNotEqualTo(12_345);
			assertThat(connection.getNetworkTimeout()).isEqualTo(12_345);
		}
	}

	@Test
	void conflictIsRepeatedOnTheThreadOfTheCaller() {
		List<Thread> threads = new ArrayList<>();
		int result = executor(Databases.postgres().dataSource()).execute((call) -> {
			threads.add(Thread.currentThread());
			if (threads.size() < 3) {
				throw new SQLException("deadlock detected", "40P01");
			}
			return number(call, 7);
		}, PATIENT);
		assertThat(result).isEqualTo(7);
		assertThat(threads).hasSize(3).containsOnly(Thread.currentThread());
	}

	/** After a failover: the next connection may reach the new primary. */
	@Test
	@Tag("jdbc-read-only")
	void f11ConnectionToAServerThatHasBecomeReadOnlyIsNotUsedAgain() {
		JdbcExecutor executor = executor(pool(Databases.postgres(), 1));
		update(executor, "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> update(executor, "CREATE TABLE written (id INT)"))
			.withMessageContaining("read-only");
		update(executor, "CREATE TABLE written (id INT)");
	}

	private static void update(JdbcExecutor executor, String sql) {
		executor.execute((call) -> call.update(NamedStatement.parse(sql), Map.of()), PATIENT);
	}

	/** For a turn of its own, and for a connection of the pool. */
	@Test
	@Tag("interrupts")
	@Tag("jdbc-interrupts")
	void interruptDuringAWaitEndsNoRequest() throws Exception {
		HikariDataSource pool = pool(Databases.h2(), 1);
		JdbcExecutor executor = executor(pool);
		List<FutureTask<Boolean>> waiting = new ArrayList<>();
		executor.execute((call) -> {
			for (JdbcExecutor each : List.of(executor, executor(pool))) {
				FutureTask<Boolean> task = new FutureTask<>(
						() -> each.<Integer>execute((next) -> number(next, 2), PATIENT) == 2 && Thread.interrupted());
				waiting.add(task);
				Thread thread = new Thread(task);
				thread.start();
				await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
				thread.interrupt();
				// it waits again
				await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
				assertThat(task.isDone()).isFalse();
			}
			return true;
		}, PATIENT);
		for (FutureTask<Boolean> each : waiting) {
			assertThat(each.get()).as("has its result, and is interrupted").isTrue();
		}
	}

}
