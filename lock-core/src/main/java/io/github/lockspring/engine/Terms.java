package io.github.lockspring.engine;

import java.time.Duration;

import io.github.lockspring.LockSpec;
import io.github.lockspring.OnLost;
import org.jspecify.annotations.Nullable;

/**
 * A {@link LockSpec} with the defaults filled in and its times in nanoseconds.
 *
 * @param key the key
 * @param name the label, or null
 * @param ttl length of the lease
 * @param renew whether it is kept alive
 * @param maxHold time from the acquisition to the end of renewal, {@link Time#FOREVER}
 * for none
 * @param minHold time from the acquisition before which the lock is not given back
 * @param onLost what happens on a loss
 */
record Terms(String key, @Nullable String name, long ttl, boolean renew, long maxHold, long minHold, OnLost onLost) {

	private static final long LONGEST_GRANT = Duration.ofSeconds(5).toNanos();

	/**
	 * The terms of a lock.
	 * @param outlasting whether it belongs to a unit of work, whose end nobody knows: its
	 * lease is then renewed whatever was asked for
	 */
	static Terms of(LockSpec spec, OnLost onLost, EngineSettings settings, boolean outlasting) {
		Duration maxHold = (spec.maxHold() != null) ? spec.maxHold() : settings.maxHold();
		Duration ttl = spec.ttl();
		if (ttl == null) {
			ttl = settings.ttl();
			if (maxHold != null && maxHold.compareTo(ttl) < 0) {
				ttl = maxHold;
			}
		}
		else if (maxHold != null && maxHold.compareTo(ttl) < 0) {
			maxHold = ttl;
		}
		boolean renew = spec.renew() || outlasting;
		if (renew && ttl.compareTo(LockSpec.MIN_RENEWED_TTL) < 0) {
			ttl = LockSpec.MIN_RENEWED_TTL;
		}
		return new Terms(spec.key(), spec.name(), ttl.toNanos(), renew,
				(renew && maxHold != null) ? maxHold.toNanos() : Time.FOREVER, spec.minHold().toNanos(), onLost);
	}

	/**
	 * When a hold that began at the given time must end.
	 */
	long limitFrom(long start) {
		return start + (this.renew ? this.maxHold : this.ttl);
	}

	/**
	 * Length of the lease that a hand-over to a waiter with these terms gets.
	 */
	int grantMillis() {
		return (int) (Math.min(this.ttl, LONGEST_GRANT) / 1_000_000);
	}

	Duration timeout(EngineSettings settings) {
		Duration third = Duration.ofNanos(this.ttl / 3);
		return (third.compareTo(settings.commandTimeout()) < 0) ? third : settings.commandTimeout();
	}

	/**
	 * What a lease of this length may be off by, between two clocks.
	 */
	static long drift(long lease) {
		return lease / 100 + 2_000_000;
	}

}
