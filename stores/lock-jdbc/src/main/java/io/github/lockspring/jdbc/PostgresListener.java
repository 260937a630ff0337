package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;

import javax.sql.DataSource;

import io.github.lockspring.jdbc.PostgresNotifications.Message;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGNotification;
import org.postgresql.jdbc.PgConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives notifications of PostgreSQL, by LISTEN on a connection of its own. Returns the
 * connection when no token of this instance has waited for a while.
 *
 * @param dataSource the source of the connection
 * @param requests sends a test message of the instance to itself, on another connection:
 * behind a pooler that switches connections between transactions, only messages of the
 * same connection would arrive
 * @param instance the instance
 * @param prefix the prefix of keys
 * @param hashedKeys the users' keys whose rows contain only a hash
 */
record PostgresListener(DataSource dataSource, JdbcExecutor requests, String instance, String prefix,
		Map<OwnerToken, String> hashedKeys) implements JdbcInbox.Transport {

	private static final Logger logger = LoggerFactory.getLogger(PostgresListener.class);

	private static final int SLICE_MILLIS = 200;

	/** The longest wait for a reply of the server. */
	private static final Duration SILENCE = Duration.ofSeconds(2);

	static boolean canListen(Connection connection) throws SQLException {
		return connection.isWrapperFor(PgConnection.class);
	}

	@Override
	public void receive(JdbcInbox.Opening opening) throws SQLException {
		try (Connection pooled = this.dataSource.getConnection()) {
			pooled.setAutoCommit(true);
			// not through the pool, which warns of each statement once it is closed
			PgConnection connection = pooled.unwrap(PgConnection.class);
			int before = connection.getNetworkTimeout();
			connection.setNetworkTimeout(Runnable::run, (int) SILENCE.toMillis());
			try {
				execute(connection, "LISTEN \"" + PostgresNotifications.channel(this.instance) + '"');
				// discards notifications for a former user of the connection
				connection.getNotifications();
				this.requests.execute((call) -> PostgresNotifications.probe(call, this.instance), SILENCE);
				receive(opening, connection);
			}
			finally {
				unlisten(pooled, before);
			}
		}
	}

	private static void execute(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	/** Cleans the connection for its next user; closes it if that fails. */
	private static void unlisten(Connection pooled, int networkTimeout) {
		try {
			PgConnection connection = pooled.unwrap(PgConnection.class);
			execute(connection, "UNLISTEN *");
			connection.setNetworkTimeout(Runnable::run, networkTimeout);
		}
		catch (SQLException | RuntimeException ex) {
			logger.debug("The connection is closed, since it may still listen", ex);
			JdbcCall.abort(pooled);
		}
	}

	private void receive(JdbcInbox.Opening opening, PgConnection connection) throws SQLException {
		long replied = System.nanoTime();
		while (opening.isOpen()) {
			PGNotification @Nullable [] notifications = connection.getNotifications(SLICE_MILLIS);
			if (notifications != null) {
				for (PGNotification notification : notifications) {
					opening.needed();
					opening.confirm();
					Message.parse(notification.getParameter())
						.filter((message) -> message.token().instance().equals(this.instance))
						.ifPresent((message) -> deliver(opening, message));
				}
			}
			if (System.nanoTime() - replied > SILENCE.toNanos()) {
				if (!opening.isConfirmed()) {
					throw new SQLException("The test message of this instance to itself has not arrived");
				}
				execute(connection, "SELECT 1");
				replied = System.nanoTime();
			}
			opening.closeIfIdle();
		}
	}

	/**
	 * Passes a message on to the listener. If a hashed key is unknown, so is its token,
	 * and the message has no effect.
	 */
	private void deliver(JdbcInbox.Opening opening, Message message) {
		OwnerToken token = message.token();
		String row = message.row();
		String hashed = this.hashedKeys.get(token);
		String key = (hashed != null) ? hashed
				: row.startsWith(this.prefix) ? row.substring(this.prefix.length()) : row;
		if (message.fencingToken() == 0) {
			opening.deliver((listener) -> listener.wanted(key, token));
		}
		else {
			opening.waiting().remove(token);
			opening.deliver((listener) -> listener.granted(key, token, message.fencingToken(), message.othersWait()));
		}
	}

}
