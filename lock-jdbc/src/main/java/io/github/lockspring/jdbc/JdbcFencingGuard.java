package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;

import javax.sql.DataSource;

import io.github.lockspring.fencing.FencingGuard;
import io.github.lockspring.fencing.StaleFencingTokenException;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Keeps the highest fencing token of each resource in a table, beside the data that the
 * lock protects. {@link #check} raises it in the transaction of the work, and so locks
 * the resource's row until that ends: a later holder waits, and an earlier one is refused
 * by the database itself, however long its process was paused.
 * <p>
 * The work and the table must share a transaction: one of Spring's for this
 * {@link DataSource}, through JDBC or JPA, not read-only. JTA has not been tested with
 * any transaction manager: its connections are accepted where they say that auto-commit
 * is off, which PostgreSQL's own XA connections do not, and refused otherwise. Beside a
 * pool that switches auto-commit off, the transaction of another {@code DataSource} is
 * not noticed. A check is one statement, except for the first one of a resource, and for
 * one that is refused. The scripts that create the table lie beside this class,
 * {@code schema-postgresql.sql} and others, for Flyway, Liquibase or by hand.
 * <p>
 * Tested on PostgreSQL, H2 and MariaDB; MySQL gets the statements of MariaDB. Any other
 * database needs a table like those, JDBC savepoints in its transactions,
 * {@code SELECT … FOR UPDATE}, and a driver whose violations of a key Spring recognizes;
 * those are the statements that H2 gets, and no other database was tried.
 * <p>
 * A process that is paused inside its transaction keeps the row locked until the database
 * drops its connection. Give transactions a timeout on the server where that matters,
 * such as PostgreSQL's {@code idle_in_transaction_session_timeout}.
 * <p>
 * Resources of more than 255 characters are kept as their first 190 characters, a
 * {@code #} and the SHA-256 of the whole. Thread-safe.
 *
 * @since 0.1
 */
public final class JdbcFencingGuard implements FencingGuard {

	/**
	 * The name of the table unless another one is given.
	 */
	public static final String DEFAULT_TABLE = "lock_fence";

	private final DataSource dataSource;

	private final JdbcTemplate jdbc;

	private final FenceTable table;

	private final FencedResources fenced = new FencedResources();

	/**
	 * Creates a guard on the table {@value #DEFAULT_TABLE}.
	 * @param dataSource the database; the same object as that of the transaction manager
	 */
	public JdbcFencingGuard(DataSource dataSource) {
		this(dataSource, DEFAULT_TABLE);
	}

	/**
	 * Creates a guard. Does not connect.
	 * @param dataSource the database; the same object as that of the transaction manager
	 * @param table the name of the table, unquoted, with a schema and a dot before it
	 * where need be
	 * @throws IllegalArgumentException if that is no name of a table
	 */
	public JdbcFencingGuard(DataSource dataSource, String table) {
		this.dataSource = target(Objects.requireNonNull(dataSource, "dataSource"));
		this.jdbc = new JdbcTemplate(this.dataSource);
		this.table = new FenceTable(this.jdbc, table);
	}

	// Transaction managers unwrap it, too
	private static DataSource target(DataSource dataSource) {
		if (dataSource instanceof TransactionAwareDataSourceProxy proxy) {
			return Objects.requireNonNull(proxy.getTargetDataSource(), "targetDataSource");
		}
		return dataSource;
	}

	/**
	 * {@inheritDoc}
	 * @throws org.springframework.dao.ConcurrencyFailureException if the database cannot
	 * tell in this transaction, which should then be rolled back and tried again
	 * @throws org.springframework.dao.InvalidDataAccessResourceUsageException if there is
	 * no table, or another one
	 * @throws org.springframework.dao.DataAccessException if the database fails otherwise
	 */
	@Override
	public void check(String resource, long token) {
		if (resource.isEmpty() || token <= 0) {
			throw new IllegalArgumentException(
					"A resource has a name, and a fencing token is positive, unlike '" + resource + "' and " + token);
		}
		checkTransaction(resource);
		Long latest = this.jdbc.execute((ConnectionCallback<Long>) (connection) -> raise(connection, resource, token));
		if (latest != null && latest > token) {
			throw new StaleFencingTokenException(resource, token, latest);
		}
	}

	private static void checkTransaction(String resource) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()) {
			throw new IllegalStateException("'" + resource + "' cannot be fenced without a transaction: its row would"
					+ " not stay locked while the work runs. Put @Transactional on the method,"
					+ " or use a TransactionTemplate");
		}
		if (TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
			throw new IllegalStateException("'" + resource + "' cannot be fenced in a read-only transaction:"
					+ " the token is written. Leave readOnly out, or the fencing if nothing is written");
		}
	}

	private long raise(Connection connection, String resource, long token) throws SQLException {
		@Nullable Object holder = TransactionSynchronizationManager.getResource(this.dataSource);
		if (holder == null || connection.getAutoCommit()) {
			throw new IllegalStateException("'" + resource + "' cannot be fenced: the transaction of this thread is"
					+ " not one of the guard's DataSource, whose connection commits each statement on its own."
					+ " Use the transaction manager of that DataSource (the same object), or a guard of the other one");
		}
		this.fenced.add(holder, resource);
		return this.table.raise(connection, FenceKey.of(resource), token);
	}

}
