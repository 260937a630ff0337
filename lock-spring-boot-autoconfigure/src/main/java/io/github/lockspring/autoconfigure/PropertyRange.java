package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.function.Function;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Checks that the value of a property is within its range, both bounds included.
 */
final class PropertyRange {

	private PropertyRange() {
	}

	static void check(String property, Duration value, Duration min, Duration max) {
		if (value.isNegative()) {
			throw new LockPropertyException(property, text(value), "a negative time has no meaning here",
					durationBetween(min, max));
		}
		check(property, value, min, max, PropertyRange::text, durationBetween(min, max));
	}

	static <T extends Number & Comparable<T>> void check(String property, T value, T min, T max) {
		check(property, value, min, max, String::valueOf, "Choose a number between %s and %s.".formatted(min, max));
	}

	/**
	 * Writes a duration as properties and messages have it.
	 * @param value the duration
	 * @return the text, such as {@code 1m30s}
	 */
	public static String text(Duration value) {
		return DurationFormatterUtils.print(value, DurationFormat.Style.COMPOSITE);
	}

	// NaN is refused too: it compares as greater than any maximum
	private static <T extends Comparable<T>> void check(String property, T value, T min, T max,
			Function<T, String> printer, String remedy) {
		if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
			throw new LockPropertyException(property, printer.apply(value),
					"it is not between %s and %s".formatted(printer.apply(min), printer.apply(max)), remedy);
		}
	}

	private static String durationBetween(Duration min, Duration max) {
		return "Choose a duration between %s and %s, with its unit.".formatted(text(min), text(max));
	}

}
