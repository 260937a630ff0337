package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockspring.store.OwnerToken;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends notifications by NOTIFY; each instance has its own channel. They are hints: a
 * failure to send one does not fail the request. A NOTIFY locks the whole database until
 * its transaction commits, so each has a transaction of its own that writes nothing.
 */
final class PostgresNotifications {

	private static final Logger logger = LoggerFactory.getLogger(PostgresNotifications.class);

	private static final NamedStatement NOTIFY = NamedStatement.parse("SELECT pg_notify(:channel, :text)");

	private static final Pattern FORM = Pattern.compile("(?:g (\\S+) ([1-9]\\d{0,17}) ([01])|w (\\S+)) (.*)",
			Pattern.DOTALL);

	/** The test message of an instance to itself. */
	private static final String PROBE = "p";

	private PostgresNotifications() {
	}

	static String channel(String instance) {
		return "lockspring_" + instance;
	}

	/**
	 * Notifies an instance that a lock was handed over to it.
	 */
	static void granted(JdbcCall call, String row, OwnerToken token, long fencingToken, boolean othersWait) {
		send(call, token.instance(), "g " + token + ' ' + fencingToken + ' ' + (othersWait ? '1' : '0') + ' ' + row);
	}

	/**
	 * Notifies an instance that others wait for a lock it owns.
	 */
	static void wanted(JdbcCall call, String row, OwnerToken owner) {
		send(call, owner.instance(), "w " + owner + ' ' + row);
	}

	/**
	 * Sends a test message to an instance, whose arrival proves that messages arrive.
	 */
	static boolean probe(JdbcCall call, String instance) throws SQLException {
		return call.query(NOTIFY, Map.of("channel", channel(instance), "text", PROBE), (result) -> true).isPresent();
	}

	private static void send(JdbcCall call, String instance, String text) {
		try {
			call.query(NOTIFY, Map.of("channel", channel(instance), "text", text), (result) -> true);
		}
		catch (SQLException ex) {
			logger.debug("Instance {} was not notified", instance, ex);
		}
	}

	/**
	 * A lock that was granted to a token, or is wanted from it.
	 *
	 * @param fencingToken 0 if it is wanted
	 */
	record Message(String row, OwnerToken token, long fencingToken, boolean othersWait) {

		/**
		 * Parses a notification.
		 * @return empty for a text in another format
		 */
		static Optional<Message> parse(String text) {
			Matcher matcher = FORM.matcher(text);
			if (!matcher.matches()) {
				return Optional.empty();
			}
			boolean granted = matcher.group(1) != null;
			return OwnerToken.parse(matcher.group(granted ? 1 : 4))
				.map((token) -> new Message(matcher.group(5), token, granted ? Long.parseLong(matcher.group(2)) : 0,
						"1".equals(matcher.group(3))));
		}

	}

}
