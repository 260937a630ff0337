package io.github.lockspring.redis;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockspring.internal.base.LogThread;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parses the messages of an inbox and notifies its listener. Any client may publish to a
 * channel, so everything that is not exactly a message of the protocol is ignored.
 *
 * @param grantsAreHints whether a granted lock must be requested all the same, since it
 * is not known whether replicas have what the releasing command has written
 */
record InboxMessages(RedisKeys keys, String instance, InboxListener listener, boolean grantsAreHints) {

	private static final Logger logger = LoggerFactory.getLogger(InboxMessages.class);

	/**
	 * A granted lock, with its fencing token and whether others wait, or a wanted one.
	 */
	private static final Pattern MESSAGE = Pattern.compile(
			"(?:g (?<grantee>\\S+) (?<fencingToken>[1-9]\\d{0,15}) (?<others>[01])|w (?<owner>\\S+)) (?<lock>.+)",
			Pattern.DOTALL);

	/**
	 * Returns the token that a message names; its instance is the addressee.
	 */
	static Optional<OwnerToken> addressee(String message) {
		Matcher parts = MESSAGE.matcher(message);
		return parts.matches() ? OwnerToken.parse(token(parts)) : Optional.empty();
	}

	private static String token(Matcher parts) {
		String grantee = parts.group("grantee");
		return (grantee != null) ? grantee : parts.group("owner");
	}

	void opened() {
		try {
			this.listener.opened();
		}
		catch (RuntimeException ex) {
			LogThread.execute(() -> logger.warn("The listener of an inbox failed to handle its opening", ex));
		}
	}

	void receive(String message) {
		try {
			Matcher parts = MESSAGE.matcher(message);
			OwnerToken token = parts.matches() ? ownToken(token(parts)) : null;
			String key = (token != null) ? this.keys.userKey(parts.group("lock")) : null;
			if (token == null || key == null) {
				if (logger.isDebugEnabled()) {
					LogThread.execute(() -> logger.debug("Ignored a message that is not of the protocol: {}", message));
				}
			}
			else if (parts.group("grantee") != null && !this.grantsAreHints) {
				this.listener.granted(key, token, Long.parseLong(parts.group("fencingToken")),
						parts.group("others").equals("1"));
			}
			else {
				this.listener.wanted(key, token);
			}
		}
		catch (RuntimeException ex) {
			LogThread
				.execute(() -> logger.warn("The listener of an inbox failed to handle the message: " + message, ex));
		}
	}

	private @Nullable OwnerToken ownToken(String text) {
		return OwnerToken.parse(text).filter((token) -> token.instance().equals(this.instance)).orElse(null);
	}

}
