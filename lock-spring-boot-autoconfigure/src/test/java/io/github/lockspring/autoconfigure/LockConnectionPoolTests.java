package io.github.lockspring.autoconfigure;

import java.time.Duration;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How messages name a database, and how many connections a pool has to have.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockConnectionPoolTests {

	@ParameterizedTest
	@CsvSource({ "jdbc:postgresql://db:5432/shop?user=app&password=secret, jdbc:postgresql://db:5432/shop",
			"jdbc:mysql://app:secret@db/shop?user=a@b, jdbc:mysql://db/shop",
			"jdbc:aws-wrapper:mysql://app:secret@db/shop, jdbc:aws-wrapper:mysql://db/shop",
			"jdbc:h2:mem:shop;PASSWORD=secret, jdbc:h2:mem:shop",
			"jdbc:oracle:thin:app/secret@//db:1521/shop, jdbc:oracle:thin://db:1521/shop" })
	void nameOfADatabaseHasNoPassword(String url, String name) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		assertThat(LockConnectionPool.name(config)).isEqualTo(name);
		config.setUsername("app");
		assertThat(LockConnectionPool.name(config)).isEqualTo(name + ", user 'app'");
	}

	@ParameterizedTest
	@CsvSource({ "jdbc:postgresql://db/shop, 6", "jdbc:otel:postgresql://db/shop, 6",
			"jdbc:aws-wrapper:postgresql://db/shop, 6", "jdbc:tc:postgresql:14:///shop, 6",
			"jdbc:mariadb://db/shop, 5" })
	@Tag("jdbc-pool-too-small")
	void poolOfTheApplicationThatIsTooSmallIsNamedWithTheNumberItNeeds(String url, int needed, CapturedOutput output) {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(url);
			LockConnectionPool.of(pool, 5);
			pool.setMaximumPoolSize(needed);
			LockConnectionPool.of(pool, 5);
			assertThat(output).doesNotContain("@LockDataSource");
			pool.setMaximumPoolSize(needed - 1);
			LockConnectionPool.of(pool, 5);
			assertThat(output).contains(url)
				.contains("has " + (needed - 1) + " connections at most")
				.contains("Set its maximumPoolSize to " + needed);
		}
	}

	/** HikariCP's default is ten, and was -1 until the pool was used. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void poolOfTheApplicationWithoutASizeMayBeTooSmallToo(boolean old, CapturedOutput output) {
		try (HikariDataSource pool = old ? new OldDataSource() : new HikariDataSource()) {
			pool.setJdbcUrl("jdbc:mariadb://db/shop");
			LockConnectionPool.of(pool, 10);
			assertThat(output).doesNotContain("@LockDataSource");
			LockConnectionPool.of(pool, 11);
			assertThat(output).contains("has 10 connections at most").contains("Set its maximumPoolSize to 11");
		}
	}

	/** It may be that of PostgreSQL behind a driver of another name. */
	@Test
	void derivedPoolWithAnUnknownDriverHasAConnectionThatListens() throws Exception {
		HikariDataSource application = new HikariDataSource();
		application.setDataSourceClassName("org.h2.jdbcx.JdbcDataSource");
		application.addDataSourceProperty("URL", "jdbc:h2:mem:unknown-driver");
		DataSource derived = LockConnectionPool.derivedFrom(application, 3, Duration.ofSeconds(1)).dataSource();
		try (HikariDataSource pool = derived.unwrap(HikariDataSource.class)) {
			assertThat(pool.getMaximumPoolSize()).isEqualTo(4);
		}
	}

	/**
	 * Has no size yet.
	 */
	private static final class OldDataSource extends HikariDataSource {

		@Override
		public int getMaximumPoolSize() {
			return -1;
		}

	}

}
