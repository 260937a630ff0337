package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Executes statements on one connection, each with a timeout. Used by one thread.
 *
 * @param connection the connection, which commits each statement separately
 * @param timeoutSeconds the longest time that the server works on one of them
 */
record JdbcCall(Connection connection, int timeoutSeconds) {

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
		PreparedStatement prepared = this.connection.prepareStatement(statement.sql());
		try {
			prepared.setQueryTimeout(this.timeoutSeconds);
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
