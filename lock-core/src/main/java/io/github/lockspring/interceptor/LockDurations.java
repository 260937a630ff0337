package io.github.lockspring.interceptor;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockspring.LockSpec;

/**
 * Durations as they are written in annotations.
 */
final class LockDurations {

	private static final String FORM = "Write a number and a unit (ms, s, m, h or d), as in \"30s\", or the ISO form, as in \"PT30S\"";

	private static final Pattern SIMPLE = Pattern.compile("([+-]?\\d+)\\s*([a-zA-Zµ]*)");

	private LockDurations() {
	}

	/**
	 * Reads a duration and checks its range.
	 * @param site where it is written
	 * @param attribute its attribute
	 * @param text the text, not empty
	 * @param min the shortest one that is allowed
	 * @param minReason why, for people
	 * @return the duration
	 * @throws io.github.lockspring.LockDefinitionException if it cannot be read or is out
	 * of its range
	 */
	static Duration parse(LockSite site, String attribute, String text, Duration min, String minReason) {
		Duration duration = read(site, attribute, text);
		if (duration.isNegative()) {
			throw site.error(attribute, text, "a duration cannot be negative", "Write at least \"" + format(min) + '"');
		}
		if (duration.compareTo(min) < 0) {
			throw site.error(attribute, text, "it is shorter than " + format(min) + ", " + minReason,
					"Write at least \"" + format(min) + '"');
		}
		if (duration.compareTo(LockSpec.MAX_DURATION) > 0) {
			throw tooLong(site, attribute, text);
		}
		return duration;
	}

	private static Duration read(LockSite site, String attribute, String text) {
		try {
			Matcher simple = SIMPLE.matcher(text.trim());
			if (!simple.matches()) {
				return Duration.parse(text.trim());
			}
			long amount = Long.parseLong(simple.group(1));
			return switch (simple.group(2).toLowerCase(Locale.ROOT)) {
				case "ms" -> Duration.ofMillis(amount);
				case "s" -> Duration.ofSeconds(amount);
				case "m" -> Duration.ofMinutes(amount);
				case "h" -> Duration.ofHours(amount);
				case "d" -> Duration.ofDays(amount);
				case "" -> throw site.error(attribute, text, "the unit is missing", FORM);
				default ->
					throw site.error(attribute, text, "the unit '" + simple.group(2) + "' is not one of ours", FORM);
			};
		}
		catch (DateTimeParseException ex) {
			throw site.error(attribute, text, "it is not a duration", FORM, ex);
		}
		catch (NumberFormatException | ArithmeticException ex) {
			throw tooLong(site, attribute, text);
		}
	}

	private static RuntimeException tooLong(LockSite site, String attribute, String text) {
		String max = format(LockSpec.MAX_DURATION);
		return site.error(attribute, text, "it is longer than " + max, "Write at most \"" + max + '"');
	}

	static String format(Duration duration) {
		if (duration.toDaysPart() > 0 && Duration.ofDays(duration.toDays()).equals(duration)) {
			return duration.toDays() + "d";
		}
		if (duration.toNanosPart() == 0 && !duration.isZero()) {
			return duration.toSeconds() + "s";
		}
		return duration.toMillis() + "ms";
	}

}
