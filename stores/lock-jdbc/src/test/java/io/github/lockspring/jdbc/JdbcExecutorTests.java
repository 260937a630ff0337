package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.RecordingDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Requests that workers execute for callers.
 */
class JdbcExecutorTests {

	private static final Duration PATIENT = Duration.ofSeconds(30);

	private static final Duration SHORT = Duration.ofMillis(200);

	private final CountDownLatch connected = new CountDownLatch(1);

	private final RecordingDataSource database = new RecordingDataSource(
			new DelegatingDataSource(Databases.h2().dataSource()) {
				@Override
				public Connection getConnection() throws SQLException {
					await(JdbcExecutorTests.this.connected);
					return super.getConnection();
				}
			});

	/** Of one thread, so each request begins when the one before it has ended. */
	private final JdbcExecutor executor = new JdbcExecutor(this.database, "lock_lease", "", "executor-tests", 1,
			new LentConnections(0));

	@AfterEach
	void close() {
		this.connected.countDown();
		this.executor.close();
	}

	@Test
	void requestThatGetsItsConnectionTooLateIsNotCarriedOut() {
		assertNoAnswer((call) -> query(call, "1"));
		this.connected.countDown();
		this.executor.execute((call) -> query(call, "2"), PATIENT);
		assertThat(this.database.statements()).containsExactly("SELECT 2");
	}

	@Test
	void requestWhoseTimeIsOverEndsBeforeItsNextStatement() {
		this.connected.countDown();
		CountDownLatch over = new CountDownLatch(1);
		assertNoAnswer((call) -> {
			query(call, "1");
			await(over);
			return query(call, "2");
		});
		over.countDown();
		this.executor.execute((call) -> query(call, "3"), PATIENT);
		assertThat(this.database.statements()).containsExactly("SELECT 1", "SELECT 3");
	}

	private void assertNoAnswer(JdbcExecutor.Request<Boolean> request) {
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.executor.execute(request, SHORT))
			.withMessageContaining("did not answer within 200 ms");
	}

	private static boolean query(JdbcCall call, String number) throws SQLException {
		return call.query(NamedStatement.parse("SELECT " + number), Map.of(), (result) -> true).orElseThrow();
	}

	private static void await(CountDownLatch latch) throws SQLException {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new SQLException(ex);
		}
	}

}
