package io.github.lockspring.store;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Identifies one ownership: the period during which one instance owns a key. A token is
 * never reused. Immutable.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @param instance 22 characters of base64url: 128 random bits drawn when the instance
 * started
 * @param sequence the number of the ownership in the instance: the time of its first
 * request, in microseconds since 1970 by the clock read when the instance started, or a
 * larger number if that one is already used
 * @param grantMillis length in milliseconds of the lease that a hand-over to this token
 * grants, 1 to 9,999
 * @since 0.1
 */
public record OwnerToken(String instance, long sequence, int grantMillis) {

	/**
	 * The largest number of fencing tokens that one ownership uses: the one issued by the
	 * store, and one more for each local hand-off inside the instance. The scripts of the
	 * stores repeat this number.
	 */
	public static final int MAX_FENCING_TOKENS = 1001;

	/**
	 * Length of a short grant in milliseconds. A hand-over with a short grant needs no
	 * message, since the next attempt of its token finds it.
	 */
	public static final int SHORT_GRANT_MILLIS = 500;

	private static final Pattern FORM = Pattern.compile("([A-Za-z0-9_-]{22})\\.(\\d{1,18})\\.([1-9]\\d{0,3})");

	/**
	 * Parses a token.
	 * @param value the text of a token
	 * @return the token, or empty if the text is not an owner token
	 */
	public static Optional<OwnerToken> parse(String value) {
		Matcher matcher = FORM.matcher(value);
		if (!matcher.matches()) {
			return Optional.empty();
		}
		return Optional
			.of(new OwnerToken(matcher.group(1), Long.parseLong(matcher.group(2)), Integer.parseInt(matcher.group(3))));
	}

	/**
	 * Returns whether the store must send a message about a hand-over to this token.
	 * @return false if its next attempt finds the hand-over soon enough
	 */
	public boolean needsMessage() {
		return this.grantMillis > SHORT_GRANT_MILLIS;
	}

	/**
	 * Returns the token in the format in which stores keep it.
	 */
	@Override
	public String toString() {
		return this.instance + '.' + this.sequence + '.' + this.grantMillis;
	}

}
