package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.sql.DriverMessage;
import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;

/**
 * Classifies errors of the database and converts them into exceptions that quote the
 * database.
 */
final class JdbcErrors {

	private static final SQLExceptionTranslator TRANSLATOR = new SQLExceptionSubclassTranslator();

	/** Of PostgreSQL and H2. */
	private static final Set<String> READ_ONLY_STATES = Set.of("25006", "90097");

	/** Of MariaDB and MySQL, for a read-only server and a read-only transaction. */
	private static final Set<Integer> READ_ONLY_CODES = Set.of(1290, 1792);

	/** Of PostgreSQL, for a prepared statement that already exists or does not exist. */
	private static final Set<String> PREPARED_STATES = Set.of("42P05", "26000");

	/** Of H2, whose driver does not count it as a conflict. */
	private static final int ROW_LOCK_TIMEOUT = 50200;

	private JdbcErrors() {
	}

	static boolean isDuplicateKey(SQLException ex) {
		return translate(ex) instanceof DuplicateKeyException;
	}

	/**
	 * Returns whether the statement failed because of a concurrent one: a deadlock, a
	 * serialization failure, or a timeout of a row lock.
	 */
	static boolean isConflict(SQLException ex) {
		return translate(ex) instanceof ConcurrencyFailureException || ex.getErrorCode() == ROW_LOCK_TIMEOUT;
	}

	private static @Nullable DataAccessException translate(SQLException ex) {
		return TRANSLATOR.translate("request to the lock store", null, ex);
	}

	/**
	 * Converts a failure.
	 * @param table the lock table
	 * @param database the address of the database, or empty
	 */
	static LockUnavailableException unavailable(SQLException ex, String table, String database) {
		String reason = DriverMessage.of(ex);
		if (isLoginRejected(ex)) {
			return new LockUnavailableException("The lock database" + database + " rejects the login: " + reason,
					"Check the user and the password", ex, true);
		}
		if (isOfAnotherSession(NestedExceptionUtils.getMostSpecificCause(ex))) {
			return new LockUnavailableException(
					"The lock database" + database + " is behind a pooler that mixes up prepared statements: " + reason,
					"Add prepareThreshold=0 to the JDBC URL", ex, false);
		}
		if (translate(ex) instanceof BadSqlGrammarException) {
			return new LockUnavailableException(
					"The lock table '" + table + "' or its waiter table cannot be used: " + reason,
					"Create both in a migration, with the columns of"
							+ " io/github/lockspring/jdbc/lock-lease-*.sql, or with distributed-lock.jdbc.initialize-schema=always"
							+ " (H2 in a file is not an embedded database);"
							+ " the user of the database needs the rights to SELECT, INSERT, UPDATE and, of '" + table
							+ "_waiter', DELETE",
					ex, true);
		}
		if (isReadOnly(ex)) {
			return new LockUnavailableException("The lock database" + database + " is read-only: " + reason,
					"Connect to the primary server, since locks have to be written", ex, false);
		}
		return new LockUnavailableException("The lock database" + database + " cannot be used: " + reason, ex);
	}

	/**
	 * Returns whether the server is read-only, such as a replica or a former primary.
	 */
	static boolean isReadOnly(SQLException ex) {
		return NestedExceptionUtils.getMostSpecificCause(ex) instanceof SQLException refused
				&& (READ_ONLY_STATES.contains(String.valueOf(refused.getSQLState()))
						|| READ_ONLY_CODES.contains(refused.getErrorCode()));
	}

	/** Returns whether a prepared statement belongs to another session of PostgreSQL. */
	private static boolean isOfAnotherSession(Throwable cause) {
		return cause instanceof SQLException failure && PREPARED_STATES.contains(String.valueOf(failure.getSQLState()));
	}

	/** Returns whether the user or the password is wrong (SQL state class 28). */
	static boolean isLoginRejected(Throwable failure) {
		Throwable next = failure;
		while (next != null && !(next instanceof SQLException sql && sql.getSQLState() != null
				&& sql.getSQLState().startsWith("28"))) {
			next = next.getCause();
		}
		return next != null;
	}

	static LockUnavailableException timeout(Duration timeout, String database, @Nullable SQLException cause) {
		return new LockUnavailableException(String.format(Locale.ROOT,
				"The lock database%s did not reply within %d ms. Its statements are slow, it cannot be reached, or"
						+ " all connections of the lock store are in use",
				database, timeout.toMillis()), cause);
	}

	static LockUnavailableException unknownDatabase(String product) {
		return new LockUnavailableException("The database '" + product
				+ "' cannot store locks: use H2, PostgreSQL, MariaDB or MySQL, in addition to the application's database if necessary",
				null, true);
	}

}
