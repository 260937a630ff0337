package io.github.lockspring.internal.aop;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Guesses what a wrong text was meant to be.
 *
 * @since 0.1
 */
public final class Suggestions {

	private static final Map<String, String> UNITS = Map.of("milli", "ms", "msec", "ms", "sec", "s", "min", "m", "hour",
			"h", "hr", "h", "day", "d");

	private static final Pattern NUMBER_AND_WORD = Pattern.compile("(\\d+) *([a-z]+)");

	private Suggestions() {
	}

	/**
	 * Returns the name that is most like a wrong one.
	 * @param wrong the name as written
	 * @param known the names that exist
	 * @return the name, or empty if none is similar: more than a third of the characters,
	 * and more than one, differ
	 */
	public static Optional<String> name(String wrong, Collection<String> known) {
		return known.stream()
			.min(Comparator.comparingInt((candidate) -> edits(wrong, candidate)))
			.filter((nearest) -> edits(wrong, nearest) <= Math.max(1, wrong.length() / 3));
	}

	/**
	 * Returns the duration that a text with another unit means.
	 * @param wrong the text, such as {@code 5sec}
	 * @return the text with the unit that is understood, such as {@code 5s}, or empty if
	 * the text is not like that
	 */
	public static Optional<String> duration(String wrong) {
		Matcher words = NUMBER_AND_WORD.matcher(wrong.trim().toLowerCase(Locale.ROOT));
		return !words.matches() ? Optional.empty()
				: UNITS.entrySet()
					.stream()
					.filter((unit) -> words.group(2).startsWith(unit.getKey()))
					.map((unit) -> words.group(1) + unit.getValue())
					.findFirst();
	}

	/**
	 * Returns how many characters must be inserted, removed or replaced.
	 * @param left a text
	 * @param right another one
	 * @return the Levenshtein distance
	 */
	public static int edits(String left, String right) {
		int[] above = new int[right.length() + 1];
		for (int i = 0; i <= left.length(); i++) {
			int[] row = new int[right.length() + 1];
			row[0] = i;
			for (int j = 1; j <= right.length(); j++) {
				row[j] = (i == 0) ? j : Math.min(Math.min(above[j], row[j - 1]) + 1,
						above[j - 1] + ((left.charAt(i - 1) != right.charAt(j - 1)) ? 1 : 0));
			}
			above = row;
		}
		return above[right.length()];
	}

}
