package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Savepoint;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * The statements on the table of fencing tokens. Thread-safe.
 * <p>
 * The row is there nearly always, and one UPDATE does everything. MySQL and MariaDB are
 * asked in another way: an UPDATE that finds no row locks the gap in which it would be,
 * unless the isolation is lower than their default. Two transactions that do so for two
 * new neighbours, two new orders say, then wait for each other with their INSERTs.
 * <p>
 * A new row may be somebody else's by the time it is inserted. PostgreSQL then inserts
 * nothing: there a statement that fails ends the transaction, and a savepoint to go back
 * to is refused in one of XA. Other databases go back to a savepoint.
 */
final class FenceTable {

	private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_$]*(\\.[A-Za-z_][A-Za-z0-9_$]*)?");

	private static final String SCRIPTS = "io/github/lockspring/jdbc/schema-";

	private static final List<String> PLATFORMS = List.of("postgresql", "mysql", "mariadb", "h2");

	/** Inserted rows count once there, changed ones twice. */
	private static final int CHANGED = 2;

	private final JdbcOperations jdbc;

	private final String name;

	private final String update;

	private final String insert;

	private final String insertIfAbsent;

	private final String select;

	private final String upsert;

	private volatile @Nullable Way way;

	FenceTable(JdbcOperations jdbc, String name) {
		if (!NAME.matcher(name).matches()) {
			throw new IllegalArgumentException("'" + name + "' is no name of a table: it is made of letters, digits and"
					+ " underscores, with a schema and a dot before it where need be");
		}
		this.jdbc = jdbc;
		this.name = name;
		this.update = "UPDATE " + name
				+ " SET fence = ?, uses = uses + 1, updated_at = CURRENT_TIMESTAMP WHERE resource = ? AND fence <= ?";
		this.insert = "INSERT INTO " + name
				+ " (resource, fence, uses, updated_at) VALUES (?, ?, 1, CURRENT_TIMESTAMP)";
		this.insertIfAbsent = this.insert + " ON CONFLICT (resource) DO NOTHING";
		this.select = "SELECT fence FROM " + name + " WHERE resource = ? FOR UPDATE";
		// the count of uses makes each use a change, and only a use
		this.upsert = this.insert + " ON DUPLICATE KEY UPDATE uses = CASE WHEN fence <= ? THEN uses + 1 ELSE uses END,"
				+ " updated_at = CASE WHEN fence <= ? THEN CURRENT_TIMESTAMP ELSE updated_at END,"
				+ " fence = GREATEST(fence, ?)";
	}

	/**
	 * Raises the token of a row unless that has a later one, and locks the row.
	 * @param connection the transaction's connection, which the statements run on
	 * @param row the name of the row
	 * @param token the token
	 * @return the token that the row has now
	 * @throws org.springframework.dao.DataAccessException if the database refuses
	 */
	long raise(Connection connection, String row, long token) throws SQLException {
		try {
			Way way = way(connection);
			boolean raised = (way == Way.UPSERT) ? upsert(row, token)
					: update(row, token) || insert(way, connection, row, token) || update(row, token);
			return raised ? token : read(row);
		}
		catch (BadSqlGrammarException ex) {
			throw new InvalidDataAccessResourceUsageException("The table of fencing tokens '" + this.name
					+ "' cannot be used: " + NestedExceptionUtils.getMostSpecificCause(ex).getMessage()
					+ ". Make it with " + script(platform(connection))
					+ ", by a migration, or with distributed-lock.fencing.initialize-schema=always if it is that of the"
					+ " guard that is made by itself: the property makes no table for a guard that is defined as a"
					+ " bean", ex);
		}
	}

	private Way way(Connection connection) throws SQLException {
		Way known = this.way;
		if (known == null) {
			known = Way.of(platform(connection));
			this.way = known;
		}
		return known;
	}

	/**
	 * Inserts or raises, where the database can do either in one statement.
	 * @return false if that was refused, or if a driver that counts matching rows instead
	 * of changed ones leaves open whether it was inserted or refused
	 */
	private boolean upsert(String row, long token) {
		return this.jdbc.update(this.upsert, row, token, token, token, token) >= CHANGED;
	}

	private boolean update(String row, long token) {
		return this.jdbc.update(this.update, token, row, token) > 0;
	}

	/**
	 * Inserts the row unless somebody else has, who is waited for if need be.
	 */
	private boolean insert(Way way, Connection connection, String row, long token) throws SQLException {
		if (way == Way.INSERT_IF_ABSENT) {
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
			// Oracle's end with the transaction, and only then
		}
	}

	/**
	 * Reads the row as it is now, not as it was when this transaction began.
	 */
	private long read(String row) {
		List<Long> found = this.jdbc.queryForList(this.select, Long.class, row);
		if (found.isEmpty()) {
			throw new CannotAcquireLockException("The row '" + row + "' of " + this.name
					+ " was made by a transaction that this one cannot see, being REPEATABLE READ or SERIALIZABLE and"
					+ " older. Nothing is known against its token: roll back, and do the work again");
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
	 * How a row is made.
	 */
	private enum Way {

		/** Together with the comparison. */
		UPSERT,

		/** Where the UPDATE found none, unless it is there. */
		INSERT_IF_ABSENT,

		/** Where the UPDATE found none, behind a savepoint. */
		INSERT;

		static Way of(String platform) {
			if (platform.contains("mysql") || platform.contains("mariadb")) {
				return UPSERT;
			}
			return platform.contains("postgresql") ? INSERT_IF_ABSENT : INSERT;
		}

	}

}
