package io.github.lockspring;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * One key of a {@link LockRequest} with its options, and the only place that knows the
 * bounds of these.
 *
 * @param key the key, without the store's prefix: 1 to {@value #MAX_KEY_LENGTH}
 * characters, any except unpaired surrogates
 * @param name a label with few distinct values, for messages and metrics; null for none
 * @param ttl length of the lease, {@link #MIN_TTL} to {@link #MAX_DURATION}; null: the
 * property {@code distributed-lock.ttl}, renewed
 * @param renew whether the lease is kept alive while the work runs; the ttl is then at
 * least {@link #MIN_RENEWED_TTL}
 * @param maxHold renewal ends this long after the acquisition; null: the property
 * {@code distributed-lock.max-hold}. Only for a renewed lease, and not below its ttl
 * @param minHold the lock is not released before this much time has passed since the
 * acquisition, zero to {@link #MAX_DURATION}
 * @since 0.1
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
	 * Longest duration of every option.
	 */
	public static final Duration MAX_DURATION = Duration.ofDays(365);

	/**
	 * Checks the values.
	 * @throws IllegalArgumentException if the key cannot be one
	 * @throws LockOptionException if one of the others is out of its bounds
	 */
	public LockSpec {
		checkKey(key);
		renew = renew || ttl == null;
		Duration minLease = renew ? MIN_RENEWED_TTL : MIN_TTL;
		String reason = renew ? ", too short to be renewed in time" : ", too short to outlast a round trip";
		if (ttl != null) {
			checkBounds("ttl", ttl, minLease, reason);
		}
		if (maxHold != null) {
			checkMaxHold(maxHold, ttl, renew);
			checkBounds("maxHold", maxHold, minLease, reason);
		}
		checkBounds("minHold", minHold, Duration.ZERO, "");
	}

	/**
	 * Returns the same request for another key.
	 * @param key the other key
	 * @return the new value
	 * @throws IllegalArgumentException if it cannot be a key
	 */
	public LockSpec withKey(String key) {
		return new LockSpec(key, this.name, this.ttl, this.renew, this.maxHold, this.minHold);
	}

	/**
	 * Returns a copy with another label.
	 * @param name the label, or null for none
	 * @return the new value
	 */
	public LockSpec withName(@Nullable String name) {
		return new LockSpec(this.key, name, this.ttl, this.renew, this.maxHold, this.minHold);
	}

	/**
	 * Returns a copy with another lease.
	 * @param ttl its length, or null for the default, which is renewed
	 * @param renew whether it is renewed
	 * @return the new value
	 * @throws LockOptionException if the ttl is out of its bounds, or a maxHold does not
	 * fit it
	 */
	public LockSpec withLease(@Nullable Duration ttl, boolean renew) {
		return new LockSpec(this.key, this.name, ttl, renew, this.maxHold, this.minHold);
	}

	/**
	 * Returns a copy whose renewal ends at another time.
	 * @param maxHold the time since the acquisition, or null for the default
	 * @return the new value
	 * @throws LockOptionException if it is out of its bounds, or the lease is not renewed
	 */
	public LockSpec withMaxHold(@Nullable Duration maxHold) {
		return new LockSpec(this.key, this.name, this.ttl, this.renew, maxHold, this.minHold);
	}

	/**
	 * Returns a copy with another shortest hold.
	 * @param minHold the time since the acquisition, zero for none
	 * @return the new value
	 * @throws LockOptionException if it is out of its bounds
	 */
	public LockSpec withMinHold(Duration minHold) {
		return new LockSpec(this.key, this.name, this.ttl, this.renew, this.maxHold, minHold);
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

	private static void checkMaxHold(Duration maxHold, @Nullable Duration ttl, boolean renew) {
		if (!renew) {
			throw new LockOptionException("maxHold", maxHold,
					"it limits the renewal, and this lock is not renewed: its ttl already bounds it",
					"Add renew, or leave maxHold out");
		}
		if (ttl != null && maxHold.compareTo(ttl) < 0) {
			throw new LockOptionException("maxHold", maxHold, "it is shorter than the ttl of " + ttl.toMillis() + "ms",
					"Make maxHold longer or the ttl shorter");
		}
	}

	/** Called once a lock: nothing is allocated unless it fails. */
	static void checkBounds(String option, Duration value, Duration min, String reason) {
		if (value.compareTo(min) < 0) {
			String shortest = min.toMillis() + "ms";
			throw new LockOptionException(option, value,
					value.isNegative() ? "a duration cannot be negative" : "it is shorter than " + shortest + reason,
					"Give at least " + shortest);
		}
		if (value.compareTo(MAX_DURATION) > 0) {
			String longest = MAX_DURATION.toDays() + "d";
			throw new LockOptionException(option, value, "it is longer than " + longest, "Give at most " + longest);
		}
	}

}
