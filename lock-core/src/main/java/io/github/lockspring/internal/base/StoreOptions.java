package io.github.lockspring.internal.base;

import java.time.Duration;

/**
 * Checks the values that the builder of a store was given.
 *
 * @since 0.1
 */
public final class StoreOptions {

	/**
	 * The prefix of all keys, unless an application chooses another one.
	 */
	public static final String DEFAULT_KEY_PREFIX = "lock:";

	/**
	 * How long the first lock waits for a connection, unless an application chooses
	 * otherwise: name server, TCP, TLS and login of a server far away fit.
	 */
	public static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(5);

	private static final Duration MIN_TIMEOUT = Duration.ofMillis(1);

	private StoreOptions() {
	}

	/**
	 * Checks the prefix of all keys.
	 * @param keyPrefix the prefix
	 * @throws IllegalArgumentException if it is empty
	 */
	public static void checkKeyPrefix(String keyPrefix) {
		if (keyPrefix.isEmpty()) {
			throw new IllegalArgumentException(
					"keyPrefix must not be empty: choose one such as 'lock:', and another one for each application that"
							+ " uses the same server and must not share locks");
		}
	}

	/**
	 * Checks a timeout.
	 * @param option the name of the option
	 * @param timeout the timeout
	 * @throws IllegalArgumentException if it is shorter than a millisecond
	 */
	public static void checkTimeout(String option, Duration timeout) {
		checkAtLeast(option, timeout, MIN_TIMEOUT);
	}

	/**
	 * Checks a duration.
	 * @param option the name of the option
	 * @param value the duration
	 * @param minimum the shortest valid duration
	 * @throws IllegalArgumentException if it is shorter
	 */
	public static void checkAtLeast(String option, Duration value, Duration minimum) {
		if (value.compareTo(minimum) < 0) {
			throw new IllegalArgumentException(
					option + " must be at least " + minimum.toMillis() + "ms, but is " + value.toMillis() + "ms");
		}
	}

}
