package io.github.lockspring.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

import javax.sql.DataSource;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.internal.sql.RowKey;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Stores the highest fencing token of each resource in a table, in the same database as
 * the data that the lock protects. {@link #check} raises the token in the transaction of
 * the work and so locks the resource's row until that transaction ends. A later holder
 * waits; an earlier one is rejected by the database, however long its process was paused.
 * <p>
 * The work and the table must share a transaction: a read-write Spring transaction for
 * this {@link DataSource}, through JDBC or JPA. JTA has not been tested. Its connections
 * are accepted if they report that auto-commit is off, which PostgreSQL's own XA
 * connections do not. If a pool switches auto-commit off, a transaction of another
 * {@code DataSource} is not detected.
 * <p>
 * A check is one statement, except for the first check of a resource and for a rejected
 * one. The scripts that create the table are next to this class
 * ({@code lock-fence-postgresql.sql} and others); run them with Flyway, Liquibase or by
 * hand.
 * <p>
 * Tested on PostgreSQL, H2 and MariaDB. MySQL uses the statements of MariaDB. Any other
 * database uses those of H2 and has not been tested. It needs a table like those of the
 * scripts, JDBC savepoints, {@code SELECT … FOR UPDATE}, and a driver whose key
 * violations Spring recognizes.
 * <p>
 * A process that is paused inside its transaction keeps the row locked until the database
 * closes the connection. If that matters, set a transaction timeout on the server, such
 * as PostgreSQL's {@code idle_in_transaction_session_timeout}.
 * <p>
 * A resource name longer than 255 characters is stored as its first 190 characters, a
 * {@code #} and the SHA-256 of the whole name. Thread-safe.
 *
 * @since 0.1
 */
public final class JdbcFencingGuard implements FencingGuard {

	/**
	 * The default name of the table.
	 */
	public static final String DEFAULT_TABLE = "lock_fence";

	private final DataSource dataSource;

	private final JdbcTemplate jdbc;

	private final FenceTable table;

	private final FencedResources fenced = new FencedResources();

	/**
	 * Creates a guard that uses the table {@value #DEFAULT_TABLE}. Does not connect.
	 * @param dataSource the database; the same object that the transaction manager uses
	 */
	public JdbcFencingGuard(DataSource dataSource) {
		this(dataSource, DEFAULT_TABLE);
	}

	/**
	 * Creates a guard. Does not connect.
	 * @param dataSource the database; the same object that the transaction manager uses
	 * @param table the name of the table, unquoted, preceded by a schema and a dot where
	 * needed
	 * @throws IllegalArgumentException if it is not a valid table name
	 */
	public JdbcFencingGuard(DataSource dataSource, String table) {
		this.dataSource = target(Objects.requireNonNull(dataSource, "dataSource"));
		this.jdbc = new JdbcTemplate(this.dataSource);
		this.table = new FenceTable(this.jdbc, table);
	}

	// transaction managers do the same
	private static DataSource target(DataSource dataSource) {
		if (dataSource instanceof TransactionAwareDataSourceProxy proxy) {
			return Objects.requireNonNull(proxy.getTargetDataSource(), "targetDataSource");
		}
		return dataSource;
	}

	/**
	 * {@inheritDoc}
	 * @throws org.springframework.dao.ConcurrencyFailureException if the database cannot
	 * decide in this transaction; roll it back and repeat it
	 * @throws org.springframework.dao.InvalidDataAccessResourceUsageException if the
	 * table does not exist or has other columns
	 * @throws org.springframework.dao.DataAccessException if the database fails otherwise
	 */
	@Override
	public void check(String resource, long token) {
		if (resource.isEmpty() || token <= 0) {
			throw new IllegalArgumentException(
					"The resource must not be empty, and the fencing token must be positive: '" + resource + "', "
							+ token);
		}
		checkTransaction(resource);
		Long latest = this.jdbc.execute((ConnectionCallback<Long>) (connection) -> raise(connection, resource, token));
		if (latest != null && latest > token) {
			throw new StaleFencingTokenException(resource, token, latest);
		}
	}

	/**
	 * Checks that the table can be read, outside of any transaction of the caller. Takes
	 * as long as the database needs for a connection.
	 * @throws org.springframework.dao.InvalidDataAccessResourceUsageException if the
	 * table does not exist; the message names the script that creates it
	 * @throws org.springframework.dao.DataAccessException if the database fails otherwise
	 */
	public void checkTable() {
		this.jdbc.execute((ConnectionCallback<?>) this.table::check);
	}

	private static void checkTransaction(String resource) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()) {
			throw new IllegalStateException("'" + resource + "' cannot be fenced without a transaction, since its row"
					+ " would not stay locked while the work runs. Put @Transactional on the method,"
					+ " or use a TransactionTemplate");
		}
		if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			throw new IllegalStateException("'" + resource + "' cannot be fenced in a read-only transaction,"
					+ " since the token is written. Remove readOnly, or the fencing if nothing is written");
		}
	}

	private long raise(Connection connection, String resource, long token) throws SQLException {
		@Nullable Object holder = TransactionSynchronizationManager.getResource(this.dataSource);
		if (holder == null || connection.getAutoCommit()) {
			throw new IllegalStateException("'" + resource + "' cannot be fenced: the transaction of this thread does"
					+ " not belong to the guard's DataSource, whose connection commits each statement separately."
					+ " Use the transaction manager of that DataSource (the same object), or a guard of the other one");
		}
		this.fenced.add(holder, resource);
		return this.table.raise(connection, RowKey.of(resource), token);
	}

}
