package io.github.lockspring.autoconfigure.jdbc;

import com.zaxxer.hikari.HikariConfig;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How messages name a database.
 */
class LockConnectionPoolTests {

	@ParameterizedTest
	@CsvSource({ "jdbc:postgresql://db:5432/shop?user=app&password=secret, jdbc:postgresql://db:5432/shop",
			"jdbc:mysql://app:secret@db/shop?user=a@b, jdbc:mysql://db/shop",
			"jdbc:h2:mem:shop;PASSWORD=secret, jdbc:h2:mem:shop",
			"jdbc:oracle:thin:app/secret@//db:1521/shop, jdbc:oracle:thin://db:1521/shop" })
	void nameOfADatabaseHasNoPassword(String url, String name) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		assertThat(LockConnectionPool.name(config)).isEqualTo(name);
		config.setUsername("app");
		assertThat(LockConnectionPool.name(config)).isEqualTo(name + ", user 'app'");
	}

}
