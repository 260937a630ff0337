package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.jdbc.JdbcExecutor.Request;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes the statements of one request on one connection, up to a deadline. Used by one
 * thread.
 *
 * @param connection the connection, which commits each statement separately
 * @param deadline the end of the wait for all statements, by the monotonic clock
 * @param endedBySocket whether a socket timeout ends a statement at the deadline. If not,
 * as with an embedded database, the statement gets a query timeout in whole seconds
 */
record JdbcCall(Connection connection, long deadline, boolean endedBySocket) {

	private static final Logger logger = LoggerFactory.getLogger(JdbcCall.class);

	/**
	 * Executes a request, then restores the connection's timeout.
	 */
	static <T> T execute(Connection connection, long deadline, Request<T> request) throws SQLException {
		if (!connection.getAutoCommit()) {
			connection.setAutoCommit(true);
		}
		int before = setNetworkTimeout(connection, millis(deadline - System.nanoTime()));
		try {
			return request.execute(new JdbcCall(connection, deadline, before >= 0));
		}
		finally {
			if (before >= 0) {
				setNetworkTimeout(connection, before);
			}
		}
	}

	/**
	 * Sets the socket timeout.
	 * @return the former timeout; -1 if the driver has none
	 */
	private static int setNetworkTimeout(Connection connection, int millis) {
		try {
			int before = connection.getNetworkTimeout();
			connection.setNetworkTimeout(Runnable::run, millis);
			return (connection.getNetworkTimeout() == millis) ? before : -1;
		}
		catch (SQLException | RuntimeException | AbstractMethodError ex) {
			return -1;
		}
	}

	/** Rounds up, since an end before the deadline is not treated as a timeout. */
	private static int millis(long nanos) {
		return (int) Math.max(1, Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(nanos + 999_999)));
	}

	/** Closes a connection that a pool must not reuse. */
	static void abort(Connection connection) {
		try {
			connection.abort(Runnable::run);
		}
		catch (SQLException | RuntimeException | AbstractMethodError ex) {
			logger.debug("A connection could not be closed", ex);
		}
	}

	/**
	 * Executes an INSERT, UPDATE or DELETE and returns the number of changed rows.
	 */
	int update(NamedStatement statement, Map<String, ?> values) throws SQLException {
		try (PreparedStatement prepared = prepare(statement)) {
			bind(prepared, statement, values);
			return prepared.executeUpdate();
		}
	}

	/**
	 * Executes an UPDATE for each set of values, in one round trip if the driver can.
	 * Repeats an UPDATE if the driver does not return its number of changed rows.
	 * @return the number of changed rows for each set of values
	 */
	int[] updateAll(NamedStatement statement, List<? extends Map<String, ?>> values) throws SQLException {
		if (values.size() == 1) {
			return new int[] { update(statement, values.get(0)) };
		}
		try (PreparedStatement prepared = prepare(statement)) {
			for (Map<String, ?> each : values) {
				bind(prepared, statement, each);
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
	 * Executes a query and maps its first row, if any.
	 */
	<T> Optional<T> query(NamedStatement statement, Map<String, ?> values, RowMapper<T> mapper) throws SQLException {
		return queryAll(statement, values, mapper).stream().findFirst();
	}

	/**
	 * Executes a query and maps all its rows.
	 */
	<T> List<T> queryAll(NamedStatement statement, Map<String, ?> values, RowMapper<T> mapper) throws SQLException {
		try (PreparedStatement prepared = prepare(statement)) {
			bind(prepared, statement, values);
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
			// the caller does not wait any more, so nothing must change
			throw new SQLTimeoutException("No time left for another statement");
		}
		if (this.endedBySocket) {
			this.connection.setNetworkTimeout(Runnable::run, millis(left));
		}
		return this.connection.prepareStatement(statement.sql());
	}

	private void bind(PreparedStatement prepared, NamedStatement statement, Map<String, ?> values) throws SQLException {
		if (!this.endedBySocket) {
			prepared.setQueryTimeout((int) TimeUnit.NANOSECONDS.toSeconds(this.deadline - System.nanoTime()) + 1);
		}
		statement.bind(prepared, values);
	}

	/**
	 * Maps a row.
	 */
	interface RowMapper<T> {

		T map(ResultSet result) throws SQLException;

	}

}
