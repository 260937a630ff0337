package io.github.lockspring.store;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names one tenure: the time during which one instance owns a key. Made for it, never
 * used again.
 *
 * @param instance 22 characters of base64url: 128 random bits made when the instance
 * started
 * @param sequence counts up in the instance
 * @param grantMillis length of the lease that a hand-over to this token gets, 1 to 9,999
 */
public record OwnerToken(String instance, long sequence, int grantMillis) {

	private static final Pattern FORM = Pattern.compile("([A-Za-z0-9_-]{22})\\.(\\d{1,18})\\.([1-9]\\d{0,3})");

	/**
	 * Reads a token.
	 * @param value its text
	 * @return the token, or empty if the text is not one of ours
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
	 * The token as it stands in the store.
	 */
	@Override
	public String toString() {
		return this.instance + '.' + this.sequence + '.' + this.grantMillis;
	}

}
