package io.github.lockspring.internal.base;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The bounds of the options of a lock, defined only here.
 *
 * @since 0.1
 */
public final class LockOptions {

	/**
	 * Shortest lease. Below it, clock drift and a round trip would be more than the lease
	 * itself.
	 */
	public static final Duration MIN_TTL = Duration.ofMillis(100);

	/**
	 * Shortest lease that is renewed: at a third of it, and again after a failure.
	 */
	public static final Duration MIN_RENEWED_TTL = Duration.ofMillis(300);

	/**
	 * Longest duration of every option.
	 */
	public static final Duration MAX_DURATION = Duration.ofDays(365);

	private static final String NEGATIVE = "a duration cannot be negative";

	private static final String TOO_SHORT_TO_RENEW = ", too short to be renewed in time";

	private LockOptions() {
	}

	/**
	 * Checks an option by itself.
	 * @param option its name
	 * @param value its value
	 * @param min the shortest one; the longest one is {@link #MAX_DURATION}
	 * @return the value
	 * @throws LockOptionException if it is out of its bounds
	 */
	public static Duration check(String option, @Nullable Duration value, Duration min) {
		if (value == null) {
			throw new IllegalArgumentException(option + " must not be null; leave it out for the default");
		}
		if (value.compareTo(min) < 0) {
			String shortest = min.toMillis() + "ms";
			throw new LockOptionException(option, value,
					value.isNegative() ? NEGATIVE : "it is shorter than " + shortest + reason(min),
					"Give at least " + shortest);
		}
		if (value.compareTo(MAX_DURATION) > 0) {
			String longest = MAX_DURATION.toDays() + "d";
			throw new LockOptionException(option, value, "it is longer than " + longest, "Give at most " + longest);
		}
		return value;
	}

	private static String reason(Duration min) {
		if (min.equals(MIN_RENEWED_TTL)) {
			return TOO_SHORT_TO_RENEW;
		}
		return min.equals(MIN_TTL) ? ", too short to outlast a round trip" : "";
	}

	/**
	 * Checks the options that limit each other. Called for each lock: nothing is
	 * allocated unless it fails.
	 * @param ttl the ttl, or null for the default
	 * @param renewed whether the lease is renewed
	 * @param maxHold the maximum hold, or null for the default
	 * @throws LockOptionException if they contradict each other
	 */
	public static void checkTogether(@Nullable Duration ttl, boolean renewed, @Nullable Duration maxHold) {
		if (ttl != null && renewed && ttl.compareTo(MIN_RENEWED_TTL) < 0) {
			throw new LockOptionException("ttl", ttl,
					ttl.isNegative() ? NEGATIVE : "it is shorter than 300ms" + TOO_SHORT_TO_RENEW,
					"Give at least 300ms, or at least 100ms with renew = false");
		}
		if (maxHold == null) {
			return;
		}
		if (!renewed) {
			throw new LockOptionException("maxHold", maxHold,
					"it limits the renewal, and this lock is not renewed: its ttl already bounds it",
					"Leave out maxHold, or renew = false");
		}
		if (ttl != null && maxHold.compareTo(ttl) < 0) {
			throw new LockOptionException("maxHold", maxHold, "it is shorter than the ttl of " + ttl.toMillis() + "ms",
					"Make maxHold longer or the ttl shorter");
		}
	}

}
