package io.github.lockspring.jdbc;

import java.util.Optional;

/**
 * What databases write differently in the statements of a {@link JdbcLockStore}. H2,
 * PostgreSQL, MariaDB and MySQL have theirs; implement this interface for another
 * database. Implementations are immutable.
 *
 * @since 0.1
 */
public interface JdbcDialect {

	/**
	 * Returns an expression for the clock of the server: microseconds since 1970-01-01
	 * 00:00 UTC, as a BIGINT. It must not be earlier than the start of the statement, as
	 * the start of a transaction would be, and must not depend on a time zone.
	 * @return the expression
	 */
	String nowMicros();

	/**
	 * Returns a statement that inserts a row and has no effect if there is a row with the
	 * same primary key already. An error in that case is tolerated, and costs an entry in
	 * the log of some servers.
	 * @param insert the INSERT
	 * @return the statement; the placeholders are those of the INSERT, in the same order
	 */
	default String insertIfAbsent(String insert) {
		return insert;
	}

	/**
	 * Returns a query for the first rows of another one.
	 * @param query a SELECT with an ORDER BY
	 * @param rows the largest number of rows
	 * @return the query; the placeholders are the same
	 */
	default String first(String query, int rows) {
		return query + " FETCH FIRST " + rows + " ROWS ONLY";
	}

	/**
	 * Returns a query that executes a statement and returns a column of the row that was
	 * changed or inserted, or no row if there was none.
	 * @param statement an UPDATE, or the result of {@link #insertIfAbsent(String)}
	 * @param column the name of the column
	 * @return the query, or empty if the database has none; the row is then read by
	 * another statement. The placeholders are those of the statement, in the same order
	 */
	default Optional<String> returning(String statement, String column) {
		return Optional.empty();
	}

}
