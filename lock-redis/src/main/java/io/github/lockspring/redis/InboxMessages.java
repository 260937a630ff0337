package io.github.lockspring.redis;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.OwnerToken;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.jspecify.annotations.Nullable;

/**
 * Parses the messages of an inbox and notifies its listener. Any client may publish to a
 * channel, so everything that is not exactly a message of the protocol is ignored.
 */
final class InboxMessages {

	private static final Logger logger = LoggerFactory.getLogger(InboxMessages.class);

	private static final Pattern GRANTED = Pattern.compile("g (\\S+) ([1-9]\\d{0,15}) ([01]) (.+)", Pattern.DOTALL);

	private static final Pattern WANTED = Pattern.compile("w (\\S+) (.+)", Pattern.DOTALL);

	private final RedisKeys keys;

	private final String instance;

	private final InboxListener listener;

	private final boolean grantsAreHints;

	/**
	 * Creates a parser.
	 * @param grantsAreHints whether a granted lock must be requested all the same, since
	 * it is not known whether replicas have what the releasing command has written
	 */
	InboxMessages(RedisKeys keys, String instance, InboxListener listener, boolean grantsAreHints) {
		this.keys = keys;
		this.instance = instance;
		this.listener = listener;
		this.grantsAreHints = grantsAreHints;
	}

	/**
	 * Returns the token that a message names; its instance is the addressee.
	 */
	static Optional<OwnerToken> addressee(String message) {
		for (Pattern pattern : List.of(GRANTED, WANTED)) {
			Matcher parts = pattern.matcher(message);
			if (parts.matches()) {
				return OwnerToken.parse(parts.group(1));
			}
		}
		return Optional.empty();
	}

	void opened() {
		try {
			this.listener.opened();
		}
		catch (RuntimeException ex) {
			logger.warn("The listener of an inbox failed to handle its opening", ex);
		}
	}

	void receive(String message) {
		try {
			if (!granted(message) && !wanted(message)) {
				logger.debug("Ignored a message that is not of the protocol: " + message);
			}
		}
		catch (RuntimeException ex) {
			logger.warn("The listener of an inbox failed to handle the message: " + message, ex);
		}
	}

	private boolean granted(String message) {
		Matcher parts = GRANTED.matcher(message);
		if (!parts.matches()) {
			return false;
		}
		OwnerToken token = ownToken(parts.group(1));
		String key = this.keys.userKey(parts.group(4));
		if (token == null || key == null) {
			return false;
		}
		if (this.grantsAreHints) {
			this.listener.wanted(key, token);
		}
		else {
			this.listener.granted(key, token, Long.parseLong(parts.group(2)), parts.group(3).equals("1"));
		}
		return true;
	}

	private boolean wanted(String message) {
		Matcher parts = WANTED.matcher(message);
		if (!parts.matches()) {
			return false;
		}
		OwnerToken token = ownToken(parts.group(1));
		String key = this.keys.userKey(parts.group(2));
		if (token == null || key == null) {
			return false;
		}
		this.listener.wanted(key, token);
		return true;
	}

	private @Nullable OwnerToken ownToken(String text) {
		return OwnerToken.parse(text).filter((token) -> token.instance().equals(this.instance)).orElse(null);
	}

}
