package io.github.lockspring.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Savepoint;
import java.util.List;
import java.util.Locale;

import io.github.lockspring.internal.sql.DriverMessage;
import io.github.lockspring.internal.sql.TableName;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Runs the statements on the table of fencing tokens. Thread-safe.
 * <p>
 * Usually the row exists, and a single UPDATE is enough. MySQL and MariaDB need other
 * statements: at their default isolation level, an UPDATE that finds no row locks the gap
 * in which the row would be. Two transactions that do this for neighbouring new rows,
 * such as those of two new orders, would deadlock on their INSERTs.
 * <p>
 * Another transaction may insert the same new row first. On PostgreSQL, a failed
 * statement would end the transaction and XA transactions reject savepoints, so the
 * INSERT is written to have no effect then. On other databases, the transaction rolls
 * back to a savepoint.
 */
final class FenceTable {

	private static final String SCRIPTS = "io/github/lockspring/fencing/lock-fence-";

	private static final List<String> PLATFORMS = List.of("postgresql", "mysql", "mariadb", "h2");

	/** MySQL and MariaDB count an inserted row once and a changed one twice. */
	private static final int CHANGED = 2;

	private final JdbcOperations jdbc;

	private final String name;

	private final String update;

	private final String insert;

	private final String insertIfAbsent;

	private final String select;

	private final String upsert;

	private volatile @Nullable InsertMode insertMode;

	FenceTable(JdbcOperations jdbc, String name) {
		this.jdbc = jdbc;
		this.name = TableName.check(name);
		this.update = "UPDATE " + name
				+ " SET fencing_token = ?, uses = uses + 1, updated_at = CURRENT_TIMESTAMP WHERE resource = ? AND fencing_token <= ?";
		this.insert = "INSERT INTO " + name
				+ " (resource, fencing_token, uses, updated_at) VALUES (?, ?, 1, CURRENT_TIMESTAMP)";
		this.insertIfAbsent = this.insert + " ON CONFLICT (resource) DO NOTHING";
		this.select = "SELECT fencing_token FROM " + name + " WHERE resource = ? FOR UPDATE";
		// MySQL counts changed rows: 'uses' changes if and only if the token is accepted
		this.upsert = this.insert + " ON DUPLICATE KEY UPDATE"
				+ " uses = CASE WHEN fencing_token <= ? THEN uses + 1 ELSE uses END,"
				+ " updated_at = CASE WHEN fencing_token <= ? THEN CURRENT_TIMESTAMP ELSE updated_at END,"
				+ " fencing_token = GREATEST(fencing_token, ?)";
	}

	/**
	 * Raises the token of a row, unless the row has a later one, and locks the row.
	 * @param connection the transaction's connection, on which the statements run
	 * @param row the key of the row
	 * @param token the token
	 * @return the token of the row after the call
	 * @throws org.springframework.dao.DataAccessException if the database reports an
	 * error
	 */
	long raise(Connection connection, String row, long token) throws SQLException {
		try {
			InsertMode mode = this.insertMode;
			if (mode == null) {
				mode = InsertMode.of(platform(connection));
				this.insertMode = mode;
			}
			boolean raised = (mode == InsertMode.UPSERT) ? upsert(row, token)
					: update(row, token) || insert(mode, connection, row, token) || update(row, token);
			return raised ? token : read(row);
		}
		catch (BadSqlGrammarException ex) {
			throw unusable(connection, ex);
		}
	}

	/**
	 * Reads from the table.
	 * @throws InvalidDataAccessResourceUsageException if it does not exist
	 */
	List<Long> check(Connection connection) throws SQLException {
		try {
			return this.jdbc.queryForList("SELECT fencing_token FROM " + this.name + " WHERE resource = ''",
					Long.class);
		}
		catch (BadSqlGrammarException ex) {
			throw unusable(connection, ex);
		}
	}

	private InvalidDataAccessResourceUsageException unusable(Connection connection, BadSqlGrammarException ex)
			throws SQLException {
		return new InvalidDataAccessResourceUsageException("The table of fencing tokens '" + this.name
				+ "' cannot be used: " + DriverMessage.of(ex) + ". Create it with " + script(platform(connection))
				+ ", in a migration, or with distributed-lock.fencing.initialize-schema=always if it is the table"
				+ " of the auto-configured guard (H2 in a file is not an embedded database)."
				+ " The property does not apply to a guard that is defined as a bean", ex);
	}

	/**
	 * Inserts the row or raises its token in one statement.
	 * @return false if the token was rejected, or if the outcome is unknown because the
	 * driver counts matching instead of changed rows
	 */
	private boolean upsert(String row, long token) {
		return this.jdbc.update(this.upsert, row, token, token, token, token) >= CHANGED;
	}

	private boolean update(String row, long token) {
		return this.jdbc.update(this.update, token, row, token) > 0;
	}

	/**
	 * Inserts the row, unless another transaction has inserted it. Waits for that
	 * transaction if necessary.
	 */
	private boolean insert(InsertMode mode, Connection connection, String row, long token) throws SQLException {
		if (mode == InsertMode.INSERT_IF_ABSENT) {
			return this.jdbc.update(this.insertIfAbsent, row, token) > 0;
		}
		Savepoint before = connection.setSavepoint();
		boolean inserted = true;
		try {
			this.jdbc.update(this.insert, row, token);
		}
		catch (DuplicateKeyException ex) {
			connection.rollback(before);
			inserted = false;
		}
		release(connection, before);
		return inserted;
	}

	private static void release(Connection connection, Savepoint savepoint) throws SQLException {
		try {
			connection.releaseSavepoint(savepoint);
		}
		catch (SQLFeatureNotSupportedException ex) {
			// Oracle releases savepoints only at the end of the transaction
		}
	}

	/**
	 * Reads the row as it is now, not as it was when this transaction began.
	 */
	private long read(String row) {
		List<Long> found = this.jdbc.queryForList(this.select, Long.class, row);
		if (found.isEmpty()) {
			throw new CannotAcquireLockException("The row '" + row + "' of " + this.name
					+ " was inserted by a transaction that this one cannot see, since this one is older and REPEATABLE READ or"
					+ " SERIALIZABLE. The token may be valid. Roll back, and repeat the work");
		}
		return found.get(0);
	}

	private static String platform(Connection connection) throws SQLException {
		return connection.getMetaData().getDatabaseProductName().toLowerCase(Locale.ROOT);
	}

	private static String script(String platform) {
		return SCRIPTS + (PLATFORMS.contains(platform) ? platform + ".sql" : "*.sql as a model");
	}

	/**
	 * The way to insert a missing row.
	 */
	private enum InsertMode {

		/** With the statement that also compares the tokens. */
		UPSERT,

		/**
		 * After an UPDATE that found no row, with an INSERT that ignores an existing row.
		 */
		INSERT_IF_ABSENT,

		/** After an UPDATE that found no row, with a savepoint before the INSERT. */
		INSERT;

		static InsertMode of(String platform) {
			if (platform.contains("mysql") || platform.contains("mariadb")) {
				return UPSERT;
			}
			return platform.contains("postgresql") ? INSERT_IF_ABSENT : INSERT;
		}

	}

}
