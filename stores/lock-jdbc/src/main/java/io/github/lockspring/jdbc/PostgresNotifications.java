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
 * Notifies instances by NOTIFY, each on a channel of its own. A NOTIFY takes a lock of
 * the whole database until its transaction has committed, so each has a transaction of
 * its own, which writes nothing.
 */
final class PostgresNotifications implements LockTable.Notifications {

	private static final Logger logger = LoggerFactory.getLogger(PostgresNotifications.class);

	private static final NamedStatement NOTIFY = NamedStatement.parse("SELECT pg_notify(:channel, :text)");

	private static final Pattern FORM = Pattern.compile("(?:g (\\S+) (\\d+) ([01])|w (\\S+)) (.*)", Pattern.DOTALL);

	private static final String PROBE = "p ";

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
	 * Sends an instance a message that confirms its inbox.
	 * @param number what the message confirms
	 */
	static void probe(JdbcCall call, String instance, long number) throws SQLException {
		call.query(NOTIFY, Map.of("channel", channel(instance), "text", PROBE + number), (result) -> true);
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
	 * Hands a notification to its receiver. Ignores what has another form.
	 */
	static void receive(String text, Receiver receiver) {
		if (text.startsWith(PROBE)) {
			receiver.probed(Long.parseLong(text, PROBE.length(), text.length(), 10));
			return;
		}
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

		void probed(long number);

	}

}
