package io.github.lockspring.store;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Identifies one ownership: the time during which one instance owns a key. A token is
 * never reused. Immutable.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @param instance 22 characters of base64url: 128 random bits drawn when the instance
 * started
 * @param sequence the number of the ownership in the instance: the time at which it was
 * requested first, in microseconds since 1970 by the clock that the instance had when it
 * started, or more if that number is taken
 * @param grantMillis length in milliseconds of the lease that a hand-over to this token
 * grants, 1 to 9,999
 * @since 0.1
 */
public record OwnerToken(String instance, long sequence, int grantMillis) {

	/**
	 * The largest number of fencing tokens that one ownership uses: the one that the
	 * store gave, and one more for each hand-off inside the instance. Scripts of stores
	 * repeat it.
	 */
	public static final int MAX_FENCING_TOKENS = 1001;

	private static final Pattern FORM = Pattern.compile("([A-Za-z0-9_-]{22})\\.(\\d{1,18})\\.([1-9]\\d{0,3})");

	/**
	 * Parses a token.
	 * @param value the text of a token
	 * @return the token, or empty if the text is not in the format of an owner token
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
	 * Returns the token in the format in which it is stored.
	 */
	@Override
	public String toString() {
		return this.instance + '.' + this.sequence + '.' + this.grantMillis;
	}

}
