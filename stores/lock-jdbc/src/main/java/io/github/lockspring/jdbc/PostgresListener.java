package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;

import javax.sql.DataSource;

import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.jdbc.PgConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives notifications of PostgreSQL, by LISTEN on a connection of its own. Gives the
 * connection back when no token of this instance has waited for a while.
 *
 * @param dataSource the source of the connection
 * @param requests sends the messages that confirm that others arrive. Sent on another
 * connection: behind a pooler that gives each transaction another connection, only those
 * of the same one would arrive
 * @param instance the instance
 * @param prefix the prefix of keys
 * @param hashedKeys the keys of users that their rows do not tell
 */
record PostgresListener(DataSource dataSource, JdbcExecutor requests, String instance, String prefix,
		Map<OwnerToken, String> hashedKeys) implements JdbcInbox.Transport {

	private static final Logger logger = LoggerFactory.getLogger(PostgresListener.class);

	private static final int SLICE_MILLIS = 200;

	private static final Duration PROBE_TIMEOUT = Duration.ofSeconds(2);

	static boolean canListen(Connection connection) throws SQLException {
		return connection.isWrapperFor(PGConnection.class);
	}

	@Override
	public void receive(JdbcInbox.Opening opening) throws SQLException {
		try (Connection connection = this.dataSource.getConnection()) {
			connection.setAutoCommit(true);
			JdbcCall.boundSocket(connection, PROBE_TIMEOUT.toMillis());
			try {
				execute(connection, "LISTEN \"" + PostgresNotifications.channel(this.instance) + '"');
				// those before the confirmation are not relied on, and may be for a
				// former user
				PGConnection driver = connection.unwrap(PGConnection.class);
				driver.getNotifications();
				opening.listens();
				probe(opening);
				receive(opening, driver);
			}
			finally {
				unlisten(connection);
			}
		}
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	/**
	 * Somebody else gets the connection from the pool next, or nobody. A pool that was
	 * closed meanwhile has closed it, of which it would warn if it saw the statement.
	 */
	private static void unlisten(Connection connection) {
		try {
			execute(connection.unwrap(PgConnection.class), "UNLISTEN *");
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("The connection is closed, since it may still listen", ex);
			JdbcCall.abort(connection);
		}
	}

	private void receive(JdbcInbox.Opening opening, PGConnection connection) throws SQLException {
		Delivery delivery = new Delivery(opening, this);
		while (opening.isOpen()) {
			PGNotification @Nullable [] notifications = connection.getNotifications(SLICE_MILLIS);
			if (notifications != null) {
				for (PGNotification notification : notifications) {
					opening.needed();
					PostgresNotifications.receive(notification.getParameter(), delivery);
				}
			}
			if (opening.doubtfulFor() > PROBE_TIMEOUT.toNanos()) {
				throw new SQLException("A message of this instance to itself has not arrived");
			}
			opening.closeIfIdle();
		}
	}

	@Override
	public void probe(JdbcInbox.Opening opening) {
		long doubt = opening.beginProbe();
		if (doubt == 0) {
			return;
		}
		this.requests.start((call) -> {
			PostgresNotifications.probe(call, this.instance, doubt);
			return true;
		}, PROBE_TIMEOUT, () -> {
			if (opening.endProbe()) {
				probe(opening);
			}
		});
	}

	/**
	 * Hands notifications to the listener.
	 */
	private record Delivery(JdbcInbox.Opening opening,
			PostgresListener owner) implements PostgresNotifications.Receiver {

		@Override
		public void granted(String row, OwnerToken token, long fencingToken, boolean othersWait) {
			if (!token.instance().equals(this.owner.instance)) {
				return;
			}
			String key = key(row, token);
			this.opening.waiting().remove(token);
			this.opening.deliver((listener) -> listener.granted(key, token, fencingToken, othersWait));
		}

		@Override
		public void wanted(String row, OwnerToken token) {
			if (token.instance().equals(this.owner.instance)) {
				String key = key(row, token);
				this.opening.deliver((listener) -> listener.wanted(key, token));
			}
		}

		@Override
		public void probed(long number) {
			this.opening.confirm(number);
		}

		/**
		 * Returns the key of a user. That of a row with a hash is not known if the token
		 * is not, and then has no effect.
		 */
		private String key(String row, OwnerToken token) {
			String hashed = this.owner.hashedKeys.get(token);
			String key = row.startsWith(this.owner.prefix) ? row.substring(this.owner.prefix.length()) : row;
			return (hashed != null) ? hashed : key;
		}

	}

}
