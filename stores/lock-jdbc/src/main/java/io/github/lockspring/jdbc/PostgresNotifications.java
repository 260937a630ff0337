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
 * Sends notifications by NOTIFY; each instance has its own channel. A NOTIFY locks the
 * whole database until its transaction commits, so each has a transaction of its own that
 * writes nothing.
 */
final class PostgresNotifications implements LockTable.Notifications {

	private static final Logger logger = LoggerFactory.getLogger(PostgresNotifications.class);

	private static final NamedStatement NOTIFY = NamedStatement.parse("SELECT pg_notify(:channel, :text)");

	private static final Pattern FORM = Pattern.compile("(?:g (\\S+) (\\d+) ([01])|w (\\S+)) (.*)", Pattern.DOTALL);

	/** The test message of an instance to itself. */
	private static final String PROBE = "p";

	static String channel(String instance) {
		return "lockspring_" + instance;
	}

	@Override
	public void granted(JdbcCall call, String row, OwnerToken token, long fencingToken, boolean othersWait) {
		send(call, token.instance(), "g " + token + ' ' + fencingToken + ' ' + (othersWait ? '1' : '0') + ' ' + row);
	}

	@Override
	public void wanted(JdbcCall call, String row, OwnerToken owner) {
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
	 * Parses a notification and passes it on. Ignores texts in another format.
	 */
	static void receive(String text, Receiver receiver) {
		Matcher matcher = FORM.matcher(text);
		if (!matcher.matches()) {
			return;
		}
		Optional<OwnerToken> granted = token(matcher.group(1));
		if (granted.isPresent()) {
			receiver.granted(matcher.group(5), granted.get(), Long.parseLong(matcher.group(2)),
					matcher.group(3).equals("1"));
		}
		token(matcher.group(4)).ifPresent((owner) -> receiver.wanted(matcher.group(5), owner));
	}

	private static Optional<OwnerToken> token(@org.jspecify.annotations.Nullable String text) {
		return Optional.ofNullable(text).flatMap(OwnerToken::parse);
	}

	/**
	 * Receives notifications.
	 */
	interface Receiver {

		void granted(String row, OwnerToken token, long fencingToken, boolean othersWait);

		void wanted(String row, OwnerToken token);

	}

}
