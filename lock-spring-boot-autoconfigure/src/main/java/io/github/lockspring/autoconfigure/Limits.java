package io.github.lockspring.autoconfigure;

import java.time.Duration;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * The smallest and the largest sensible value of a property.
 */
final class Limits {

	private Limits() {
	}

	static void check(String property, Duration value, Duration min, Duration max) {
		if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
			throw new LockPropertyException(property, text(value),
					value.isNegative() ? "a negative time has no meaning here" : outside(text(min), text(max)),
					"Choose a duration between %s and %s, with its unit.".formatted(text(min), text(max)));
		}
	}

	static void check(String property, double value, double min, double max) {
		// written so that NaN is refused too
		if (!(value >= min && value <= max)) {
			throw new LockPropertyException(property, Double.toString(value),
					outside(Double.toString(min), Double.toString(max)),
					"Choose a number between %s and %s.".formatted(min, max));
		}
	}

	static void check(String property, int value, int min, int max) {
		if (value < min || value > max) {
			throw new LockPropertyException(property, Integer.toString(value),
					outside(Integer.toString(min), Integer.toString(max)),
					"Choose a number between %d and %d.".formatted(min, max));
		}
	}

	static String text(Duration value) {
		return DurationFormatterUtils.print(value, DurationFormat.Style.COMPOSITE);
	}

	private static String outside(String min, String max) {
		return "it is not between " + min + " and " + max;
	}

}
