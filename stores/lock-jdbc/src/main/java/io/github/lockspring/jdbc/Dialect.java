package io.github.lockspring.jdbc;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The differences between databases in the statements of a {@link JdbcLockStore}, which
 * are in {@link LockTable} and {@link LockQueue}: one that is another on some database
 * becomes a method here. MySQL uses the dialect of MariaDB.
 */
enum Dialect {

	/** Its clock is read at the start of the statement. */
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

	/** Its {@code now()} would be the start of the transaction. */
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
		String locking(String query) {
			return query + " FOR UPDATE OF l";
		}

		@Override
		Optional<String> returning(String statement, String column) {
			return Optional.of(statement + " RETURNING " + column);
		}

	},

	/**
	 * UNIX_TIMESTAMP returns seconds only, unless it converts a local time, which is
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
	 * @param product the product name reported by the driver
	 */
	static Optional<Dialect> of(String product) {
		String name = product.toLowerCase(Locale.ROOT);
		return Arrays.stream(values())
			.filter((dialect) -> dialect.products.stream().anyMatch(name::contains))
			.findFirst();
	}

	/**
	 * Returns an expression for the clock of the server: microseconds since 1970-01-01
	 * 00:00 UTC, as a BIGINT, independent of any time zone. It is never earlier than the
	 * start of the statement, unlike the start of a transaction.
	 */
	abstract String nowMicros();

	/**
	 * Returns a statement that inserts a row, and has no effect if a row with the same
	 * primary key exists. Alternatively, it may fail in that case, at the cost of a line
	 * in the log of some servers.
	 * @param insert the INSERT, whose placeholders the statement has in the same order
	 */
	String insertIfAbsent(String insert) {
		return insert;
	}

	/**
	 * Limits a query to its first rows.
	 * @param query a SELECT with an ORDER BY
	 */
	String first(String query, int rows) {
		return query + " FETCH FIRST " + rows + " ROWS ONLY";
	}

	/**
	 * Returns a query that also locks the rows of its table {@code l}, for the moment of
	 * the statement. A proxy that sends queries to replicas sends this one to the
	 * primary.
	 * @param query a SELECT, perhaps with an outer join and an ORDER BY
	 */
	String locking(String query) {
		return query + " FOR UPDATE";
	}

	/**
	 * Returns a query that executes a statement and returns a column of the changed or
	 * inserted row, or no row if there was none.
	 * @param statement an UPDATE, or the result of {@link #insertIfAbsent(String)}, whose
	 * placeholders the query has in the same order
	 * @return the query; empty if the database has none, and another statement must read
	 * the row
	 */
	Optional<String> returning(String statement, String column) {
		return Optional.empty();
	}

}
