package io.github.lockspring;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What is asked for one key of a {@link LockRequest}.
 *
 * @param key the key, without the store's prefix: 1 to {@value #MAX_KEY_LENGTH}
 * characters, any except unpaired surrogates
 * @param name a label of few different values, for messages and metrics; null: the key
 * has none
 * @param ttl length of the lease, {@link #MIN_TTL} to {@link #MAX_DURATION}; null: the
 * property {@code distributed-lock.ttl}, renewed
 * @param renew whether the lease is kept alive while the work runs; the ttl is then at
 * least {@link #MIN_RENEWED_TTL}
 * @param maxHold renewal ends this long after the acquisition; null: the property
 * {@code distributed-lock.max-hold}. Only for a renewed lease, and not below its ttl
 * @param minHold the lock is not given back before this much time has passed since the
 * acquisition; zero: at once
 */
public record LockSpec(String key, @Nullable String name, @Nullable Duration ttl, boolean renew,
		@Nullable Duration maxHold, Duration minHold) {

	/**
	 * Longest key, in characters.
	 */
	public static final int MAX_KEY_LENGTH = 4096;

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
	 * Longest time that can be asked for.
	 */
	public static final Duration MAX_DURATION = Duration.ofDays(365);

	/**
	 * Checks the values.
	 * @throws IllegalArgumentException if one is out of its range
	 */
	public LockSpec {
		checkKey(key);
		renew = renew || ttl == null;
		if (ttl != null) {
			check("ttl", ttl, renew ? MIN_RENEWED_TTL : MIN_TTL);
		}
		if (maxHold != null) {
			check("maxHold", maxHold, (ttl != null) ? ttl : MIN_RENEWED_TTL);
			if (!renew) {
				throw new IllegalArgumentException("maxHold " + maxHold
						+ " has no meaning for a lock that is not renewed: its ttl already bounds it. Add renew, or leave maxHold out");
			}
		}
		check("minHold", minHold, Duration.ZERO);
	}

	LockSpec forKey(String other) {
		return new LockSpec(other, this.name, this.ttl, this.renew, this.maxHold, this.minHold);
	}

	private static void checkKey(String key) {
		if (key == null || key.isEmpty()) {
			throw new IllegalArgumentException("A lock key must not be null or empty");
		}
		if (key.length() > MAX_KEY_LENGTH) {
			throw new IllegalArgumentException("A lock key has at most " + MAX_KEY_LENGTH + " characters, this one has "
					+ key.length() + ": '" + key.substring(0, 40) + "…'. Use an identifier or a hash of the value");
		}
		for (int i = 0; i < key.length(); i++) {
			char c = key.charAt(i);
			if (Character.isHighSurrogate(c) && i + 1 < key.length() && Character.isLowSurrogate(key.charAt(i + 1))) {
				i++;
			}
			else if (Character.isSurrogate(c)) {
				throw new IllegalArgumentException(
						"A lock key must be valid Unicode; this one has an unpaired surrogate" + " at index " + i
								+ ". Encode binary values, for example as hex");
			}
		}
	}

	static void check(String attribute, Duration value, Duration min) {
		if (value == null || value.compareTo(min) < 0 || value.compareTo(MAX_DURATION) > 0) {
			throw new IllegalArgumentException(
					attribute + " must be between " + min + " and " + MAX_DURATION + ", not " + value);
		}
	}

}
