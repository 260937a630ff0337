package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.function.Function;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Checks values of properties. The reason of each failure is a sentence, and a second one
 * describes how to correct the value: Spring Boot's report has no other place for it.
 */
final class PropertyChecks {

	private PropertyChecks() {
	}

	/**
	 * Creates the exception for a wrong value, which Spring Boot prints.
	 * @param property the name without {@code distributed-lock.}; never one that may have
	 * a secret
	 * @param value the value, where it is set in no property source
	 * @param problem what is wrong with it, without a full stop
	 * @param remedy how to correct it, without a full stop
	 */
	static InvalidConfigurationPropertyValueException invalid(String property, Object value, String problem,
			String remedy) {
		return new InvalidConfigurationPropertyValueException("distributed-lock." + property, value,
				"%s. %s.".formatted(problem, remedy));
	}

	/**
	 * Creates the exception for a wrong value that is not printed.
	 * @param property the name without {@code distributed-lock.}
	 * @param problem what is wrong with it, without a full stop
	 * @param remedy how to correct it, a sentence
	 */
	static LockConfigurationException secret(String property, String problem, String remedy) {
		return new LockConfigurationException(
				"The property 'distributed-lock.%s', whose value is not shown: %s.".formatted(property, problem),
				remedy, null);
	}

	/** Both bounds are included. */
	static void check(String property, Duration value, Duration min, Duration max) {
		String remedy = "Choose a duration between %s and %s, with its unit".formatted(text(min), text(max));
		if (value.isNegative()) {
			throw invalid(property, text(value), "A negative time has no meaning here", remedy);
		}
		check(property, value, min, max, PropertyChecks::text, remedy);
	}

	/** Both bounds are included. */
	static void check(String property, int value, int min, int max) {
		check(property, value, min, max, String::valueOf, "Choose a number between %d and %d".formatted(min, max));
	}

	private static <T extends Comparable<T>> void check(String property, T value, T min, T max,
			Function<T, String> printer, String remedy) {
		if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
			throw invalid(property, printer.apply(value),
					"It is not between %s and %s".formatted(printer.apply(min), printer.apply(max)), remedy);
		}
	}

	/**
	 * Writes a duration as properties and messages have it, such as {@code 1m30s}.
	 */
	static String text(Duration value) {
		return DurationFormatterUtils.print(value, DurationFormat.Style.COMPOSITE);
	}

}
