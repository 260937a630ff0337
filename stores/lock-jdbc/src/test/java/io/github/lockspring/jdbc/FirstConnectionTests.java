package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which failures of the first request count as a connection.
 */
@ExtendWith(OutputCaptureExtension.class)
class FirstConnectionTests {

	private static final int CALLERS = 20;

	private final AtomicInteger requests = new AtomicInteger();

	private void await(RuntimeException failure) {
		FirstConnection first = new FirstConnection(() -> {
			this.requests.incrementAndGet();
			throw failure;
		}, Duration.ofSeconds(30));
		for (int i = 0; i < CALLERS; i++) {
			first.await();
			first.open().join();
		}
	}

	/** The table is missing, or the user has no right to read it. */
	@ParameterizedTest
	@CsvSource({ "42P01", "42501", "42S02" })
	void databaseThatHasAnsweredIsAskedOnce(String state, CapturedOutput output) {
		await(JdbcErrors.unavailable(new SQLException("no table", state), "lock_lease", ""));
		assertThat(this.requests).hasValue(1);
		assertThat(output).containsOnlyOnce("Requests for locks, or at least waits for them, fail until");
	}

	@Test
	void databaseWithoutADialectIsAskedOnce() {
		await(JdbcErrors.unknownDatabase("Oracle"));
		assertThat(this.requests).hasValue(1);
	}

	@Test
	void refusedLoginIsNoConnection(CapturedOutput output) {
		await(JdbcErrors.unavailable(new SQLException("wrong password", "28P01"), "lock_lease", ""));
		assertThat(this.requests).hasValueGreaterThan(CALLERS);
		assertThat(output).containsOnlyOnce("refuses the login");
	}

}
