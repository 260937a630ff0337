package io.github.lockspring.jdbc;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What databases write differently in the statements of a {@link JdbcLockStore}. MySQL
 * has the dialect of MariaDB.
 */
enum Dialect {

	/** The clock is that of the statement's start. */
	H2("h2") {

		@Override
		String nowMicros() {
			return "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6)) * 1000000 AS BIGINT)";
		}

		@Override
		Optional<String> returning(String statement, String column) {
			return Optional.of("SELECT " + column + " FROM FINAL TABLE (" + statement + ")");
		}

	},

	/** Here {@code now()} would be the start of the transaction. */
	POSTGRESQL("postgresql") {

		@Override
		String nowMicros() {
			return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";
		}

		@Override
		String insertIfAbsent(String insert) {
			return insert + " ON CONFLICT DO NOTHING";
		}

		@Override
		Optional<String> returning(String statement, String column) {
			return Optional.of(statement + " RETURNING " + column);
		}

	},

	/**
	 * UNIX_TIMESTAMP has seconds only, unless it converts a local time, which is
	 * ambiguous for an hour each autumn. INSERT IGNORE would also ignore other errors.
	 */
	MARIADB("mariadb", "mysql") {

		@Override
		String nowMicros() {
			return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
		}

		@Override
		String insertIfAbsent(String insert) {
			return insert + " ON DUPLICATE KEY UPDATE lock_key = lock_key";
		}

		@Override
		String first(String query, int rows) {
			return query + " LIMIT " + rows;
		}

	};

	private final List<String> products;

	Dialect(String... products) {
		this.products = List.of(products);
	}

	/**
	 * Finds the dialect of a database.
	 * @param product the name of the product that the driver reports
	 */
	static Optional<Dialect> of(String product) {
		String name = product.toLowerCase(Locale.ROOT);
		return Arrays.stream(values())
			.filter((dialect) -> dialect.products.stream().anyMatch(name::contains))
			.findFirst();
	}

	/**
	 * Returns an expression for the clock of the server: microseconds since 1970-01-01
	 * 00:00 UTC, as a BIGINT. It is not earlier than the start of the statement, as the
	 * start of a transaction would be, and does not depend on a time zone.
	 */
	abstract String nowMicros();

	/**
	 * Returns a statement that inserts a row and has no effect if there is a row with the
	 * same primary key already. An error in that case is tolerated, and costs an entry in
	 * the log of some servers.
	 * @param insert the INSERT, whose placeholders it has in the same order
	 */
	String insertIfAbsent(String insert) {
		return insert;
	}

	/**
	 * Returns a query for the first rows of another one.
	 * @param query a SELECT with an ORDER BY, whose placeholders it has
	 */
	String first(String query, int rows) {
		return query + " FETCH FIRST " + rows + " ROWS ONLY";
	}

	/**
	 * Returns a query that executes a statement and returns a column of the row that was
	 * changed or inserted, or no row if there was none.
	 * @param statement an UPDATE, or the result of {@link #insertIfAbsent(String)}, whose
	 * placeholders it has in the same order
	 * @return the query, or empty if the database has none; the row is then read by
	 * another statement
	 */
	Optional<String> returning(String statement, String column) {
		return Optional.empty();
	}

}
