package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;

/**
 * Classifies errors of the database, and describes each of them in a sentence with the
 * database's own words.
 */
final class JdbcErrors {

	private static final SQLExceptionTranslator TRANSLATOR = new SQLExceptionSubclassTranslator();

	/** PostgreSQL, and H2. */
	private static final Set<String> READ_ONLY_STATES = Set.of("25006", "90097");

	/** MariaDB and MySQL: the server, and the transaction. */
	private static final Set<Integer> READ_ONLY_CODES = Set.of(1290, 1792);

	/** PostgreSQL: a prepared statement that exists, and one that does not. */
	private static final Set<String> PREPARED_STATES = Set.of("42P05", "26000");

	private JdbcErrors() {
	}

	static boolean isDuplicateKey(SQLException ex) {
		return translate(ex) instanceof DuplicateKeyException;
	}

	/**
	 * Whether the database has chosen this statement to give way to another one: a
	 * deadlock, a serialization failure, a timeout of a lock on a row.
	 */
	static boolean isConflict(SQLException ex) {
		return translate(ex) instanceof ConcurrencyFailureException;
	}

	/**
	 * Whether the connection has ended, or the server has ended it: SQL states of class
	 * 08, and those of a server that shuts down.
	 */
	static boolean isConnectionLost(SQLException ex) {
		String state = String.valueOf(ex.getSQLState());
		return state.startsWith("08") || state.startsWith("57P0");
	}

	private static @Nullable DataAccessException translate(SQLException ex) {
		return TRANSLATOR.translate("request to the lock store", null, ex);
	}

	/**
	 * Describes a failure.
	 * @param table the table of locks
	 * @param database the address of the database, or empty
	 */
	static LockUnavailableException unavailable(SQLException ex, String table, String database) {
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(ex);
		if (isLoginRefusal(ex)) {
			return new LockUnavailableException(
					"The database of the locks" + database + " refuses the login: " + cause.getMessage(),
					"Check the user and the password", ex, true);
		}
		if (isOfAnotherSession(cause)) {
			return new LockUnavailableException("The database of the locks" + database
					+ " is behind a pooler that mixes up prepared statements: " + cause.getMessage(),
					"Add prepareThreshold=0 to the JDBC URL", ex, false);
		}
		if (translate(ex) instanceof BadSqlGrammarException) {
			return new LockUnavailableException(
					"The table of locks '" + table + "', or that of waiters, cannot be used: " + cause.getMessage(),
					"Create both in a migration, with the columns of"
							+ " io/github/lockspring/jdbc/lock-lease-*.sql, or with distributed-lock.jdbc.initialize-schema=always"
							+ " (H2 in a file is no embedded database);"
							+ " the user of the database needs the rights to SELECT, INSERT, UPDATE and, of '" + table
							+ "_waiter', DELETE",
					ex, true);
		}
		if (isReadOnly(ex)) {
			return new LockUnavailableException(
					"The database of the locks" + database + " is read-only: " + cause.getMessage(),
					"Locks have to be written: connect to the primary server", ex, false);
		}
		return new LockUnavailableException(
				"The database of the locks" + database + " cannot be used: " + cause.getMessage(), ex);
	}

	/**
	 * Whether the server writes nothing at all, such as a copy, or one that was a primary
	 * before.
	 */
	static boolean isReadOnly(SQLException ex) {
		return NestedExceptionUtils.getMostSpecificCause(ex) instanceof SQLException refused
				&& (READ_ONLY_STATES.contains(String.valueOf(refused.getSQLState()))
						|| READ_ONLY_CODES.contains(refused.getErrorCode()));
	}

	/** Whether PostgreSQL has a prepared statement already, or not any more. */
	private static boolean isOfAnotherSession(Throwable cause) {
		return cause instanceof SQLException failure && PREPARED_STATES.contains(String.valueOf(failure.getSQLState()));
	}

	/** Whether the user or the password is wrong (class 28 of the SQL states). */
	static boolean isLoginRefusal(Throwable failure) {
		Throwable next = failure;
		while (next != null && !(next instanceof SQLException sql && sql.getSQLState() != null
				&& sql.getSQLState().startsWith("28"))) {
			next = next.getCause();
		}
		return next != null;
	}

	static LockUnavailableException timeout(Duration timeout, String database) {
		return new LockUnavailableException(String.format(Locale.ROOT,
				"The database of the locks%s did not answer within %d ms. Its statements are slow, it cannot be reached, or"
						+ " all connections of the lock store are in use",
				database, timeout.toMillis()));
	}

	static LockUnavailableException unknownDatabase(String product) {
		return new LockUnavailableException("Locks cannot be kept in the database '" + product
				+ "': use H2, PostgreSQL, MariaDB or MySQL, which may be another database than the application's", null,
				true);
	}

}
