package io.github.lockspring.fencing;

import java.sql.Connection;
import java.sql.SQLException;
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
 */
final class FenceTable {

	private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_$]*(\\.[A-Za-z_][A-Za-z0-9_$]*)?");

	private static final String SCRIPTS = "io/github/lockspring/fencing/schema-";

	private static final List<String> PLATFORMS = List.of("postgresql", "mysql", "mariadb", "h2");

	/** Inserted rows count once there, changed ones twice. */
	private static final int CHANGED = 2;

	private final JdbcOperations jdbc;

	private final String name;

	private final String update;

	private final String insert;

	private final String select;

	private final String upsert;

	private volatile @Nullable Boolean upserting;

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
			boolean raised = isUpserting(connection) ? upsert(row, token)
					: update(row, token) || insert(connection, row, token) || update(row, token);
			return raised ? token : read(row);
		}
		catch (BadSqlGrammarException ex) {
			throw new InvalidDataAccessResourceUsageException("The table of fencing tokens '" + this.name
					+ "' cannot be used: " + NestedExceptionUtils.getMostSpecificCause(ex).getMessage()
					+ ". Make it with " + script(platform(connection))
					+ ", by a migration or with distributed-lock.fencing.initialize-schema=always", ex);
		}
	}

	private boolean isUpserting(Connection connection) throws SQLException {
		Boolean known = this.upserting;
		if (known == null) {
			String platform = platform(connection);
			known = platform.contains("mysql") || platform.contains("mariadb");
			this.upserting = known;
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
	private boolean insert(Connection connection, String row, long token) throws SQLException {
		// a statement that fails spoils all of a PostgreSQL transaction
		Savepoint before = connection.setSavepoint();
		boolean inserted = true;
		try {
			this.jdbc.update(this.insert, row, token);
		}
		catch (DuplicateKeyException ex) {
			connection.rollback(before);
			inserted = false;
		}
		connection.releaseSavepoint(before);
		return inserted;
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

}
