package io.github.lockspring.jdbc;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The dialects of the databases that are tested. MySQL has that of MariaDB.
 */
enum KnownDialect implements JdbcDialect {

	/** The clock is that of the statement's start. */
	H2("h2") {

		@Override
		public String nowMicros() {
			return "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)";
		}

		@Override
		public Optional<String> returning(String statement, String column) {
			return Optional.of("SELECT " + column + " FROM FINAL TABLE (" + statement + ")");
		}

	},

	/** Here {@code now()} would be the start of the transaction. */
	POSTGRESQL("postgresql") {

		@Override
		public String nowMicros() {
			return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";
		}

		@Override
		public String insertIfAbsent(String insert) {
			return insert + " ON CONFLICT DO NOTHING";
		}

		@Override
		public Optional<String> returning(String statement, String column) {
			return Optional.of(statement + " RETURNING " + column);
		}

	},

	/**
	 * UNIX_TIMESTAMP has seconds only, unless it converts a local time, which is
	 * ambiguous for an hour each autumn. INSERT IGNORE would also ignore other errors.
	 */
	MARIADB("mariadb", "mysql") {

		@Override
		public String nowMicros() {
			return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
		}

		@Override
		public String insertIfAbsent(String insert) {
			return insert + " ON DUPLICATE KEY UPDATE lock_key = lock_key";
		}

		@Override
		public String first(String query, int rows) {
			return query + " LIMIT " + rows;
		}

	};

	private final List<String> products;

	KnownDialect(String... products) {
		this.products = List.of(products);
	}

	/**
	 * Finds the dialect of a database.
	 * @param product the name of the product that the driver reports
	 */
	static Optional<KnownDialect> of(String product) {
		String name = product.toLowerCase(Locale.ROOT);
		return Arrays.stream(values())
			.filter((dialect) -> dialect.products.stream().anyMatch(name::contains))
			.findFirst();
	}

}
