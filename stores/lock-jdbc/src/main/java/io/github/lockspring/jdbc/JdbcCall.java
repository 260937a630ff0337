package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.jdbc.JdbcExecutor.Request;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes statements on one connection, each with a timeout, until the caller has given
 * up. Used by one thread.
 *
 * @param connection the connection, which commits each statement separately
 * @param deadline until when the caller waits for all of them, by the monotonic clock
 * @param ownThread whether the caller's own thread executes them: then the timeout of the
 * socket ends them at the deadline. Otherwise the server does, later, in whole seconds
 */
record JdbcCall(Connection connection, long deadline, boolean ownThread) {

	private static final Logger logger = LoggerFactory.getLogger(JdbcCall.class);

	/**
	 * Begins to use a connection, whose statements commit separately from now on.
	 */
	static JdbcCall on(Connection connection, long deadline, boolean ownThread) throws SQLException {
		if (!connection.getAutoCommit()) {
			connection.setAutoCommit(true);
		}
		return new JdbcCall(connection, deadline, ownThread);
	}

	/**
	 * Lets a read of the socket end after a time.
	 * @return whether the driver can
	 */
	static boolean boundSocket(Connection connection, long millis) {
		try {
			connection.setNetworkTimeout(Runnable::run, (int) millis);
			return connection.getNetworkTimeout() == millis;
		}
		catch (SQLException | RuntimeException | AbstractMethodError ex) {
			return false;
		}
	}

	/** Closes a connection that no pool may keep. */
	static void abort(Connection connection) {
		try {
			connection.abort(Runnable::run);
		}
		catch (SQLException | RuntimeException | AbstractMethodError ex) {
			logger.debug("A connection could not be closed", ex);
		}
	}

	/**
	 * Executes a request. A server that turns out to be read-only has given its place to
	 * another one, perhaps: the next connection may reach that.
	 */
	<T> T execute(Request<T> request) throws SQLException {
		try {
			return request.execute(this);
		}
		catch (SQLException ex) {
			if (JdbcErrors.isReadOnly(ex)) {
				abort(this.connection);
			}
			throw ex;
		}
	}

	/**
	 * Returns the longest time that the server works on a statement.
	 */
	int seconds() {
		return (int) Math.max(1, TimeUnit.NANOSECONDS.toSeconds(this.deadline - System.nanoTime()) + 1);
	}

	/**
	 * Executes an INSERT, UPDATE or DELETE and returns the number of changed rows.
	 */
	int update(NamedStatement statement, Map<String, ?> values) throws SQLException {
		try (PreparedStatement prepared = prepare(statement)) {
			statement.bind(prepared, values);
			return prepared.executeUpdate();
		}
	}

	/**
	 * Executes an UPDATE for each set of values, in one round trip where the driver can.
	 * Repeats those of which the driver does not know the number of changed rows.
	 * @return the number of changed rows of each
	 */
	int[] updateAll(NamedStatement statement, List<? extends Map<String, ?>> values) throws SQLException {
		if (values.size() == 1) {
			return new int[] { update(statement, values.get(0)) };
		}
		try (PreparedStatement prepared = prepare(statement)) {
			for (Map<String, ?> each : values) {
				statement.bind(prepared, each);
				prepared.addBatch();
			}
			int[] counts = prepared.executeBatch();
			if (counts.length != values.size()) {
				throw new SQLException("The driver returned " + counts.length + " results for a batch of "
						+ values.size() + " statements");
			}
			for (int i = 0; i < counts.length; i++) {
				counts[i] = (counts[i] >= 0) ? counts[i] : update(statement, values.get(i));
			}
			return counts;
		}
	}

	/**
	 * Executes a query and maps its first row, if there is one.
	 */
	<T> Optional<T> query(NamedStatement statement, Map<String, ?> values, RowMapper<T> mapper) throws SQLException {
		try (PreparedStatement prepared = prepare(statement)) {
			statement.bind(prepared, values);
			try (ResultSet result = prepared.executeQuery()) {
				return result.next() ? Optional.of(mapper.map(result)) : Optional.empty();
			}
		}
	}

	/**
	 * Executes a query and maps all of its rows.
	 */
	<T> List<T> queryAll(NamedStatement statement, Map<String, ?> values, RowMapper<T> mapper) throws SQLException {
		try (PreparedStatement prepared = prepare(statement)) {
			statement.bind(prepared, values);
			List<T> rows = new ArrayList<>();
			try (ResultSet result = prepared.executeQuery()) {
				while (result.next()) {
					rows.add(mapper.map(result));
				}
			}
			return rows;
		}
	}

	private PreparedStatement prepare(NamedStatement statement) throws SQLException {
		long left = this.deadline - System.nanoTime();
		if (left <= 0) {
			// the caller has given up: what it does not expect any more is not carried
			// out
			throw new SQLTimeoutException("There is no time left for a statement");
		}
		if (this.ownThread) {
			this.connection.setNetworkTimeout(Runnable::run, (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
			return this.connection.prepareStatement(statement.sql());
		}
		PreparedStatement prepared = this.connection.prepareStatement(statement.sql());
		try {
			prepared.setQueryTimeout(seconds());
			return prepared;
		}
		catch (SQLException | RuntimeException ex) {
			close(prepared, ex);
			throw ex;
		}
	}

	private static void close(Statement statement, Exception failure) {
		try {
			statement.close();
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
		}
	}

	/**
	 * Maps a row.
	 */
	interface RowMapper<T> {

		T map(ResultSet result) throws SQLException;

	}

}
