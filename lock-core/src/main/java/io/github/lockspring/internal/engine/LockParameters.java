package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.LockRequest;
import io.github.lockspring.LockSpec;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

/**
 * A {@link LockSpec} with the defaults applied; times in nanoseconds unless they are a
 * {@link Duration}.
 *
 * @param key the key
 * @param name the label, or null
 * @param ttl length of the lease to request
 * @param renew whether the lease is renewed
 * @param maxHold time from the acquisition to the end of renewal, {@link Time#FOREVER}
 * for none; the requested ttl of a lease that is not renewed beyond it
 * @param minHold time from the acquisition before which the lock is not released
 * @param onLost what happens on a loss
 * @param asyncRelease whether the holder goes on when the release is on its way
 */
record LockParameters(String key, @Nullable String name, Duration ttl, boolean renew, long maxHold, long minHold,
		OnLost onLost, boolean asyncRelease) {

	private static final long MAX_GRANT = Duration.ofSeconds(5).toNanos();

	/**
	 * Applies the defaults, and what the store can give.
	 * @param outlasting whether the lock belongs to a unit of work, whose end is unknown:
	 * its lease is then renewed whatever was requested
	 * @throws IllegalArgumentException if the store cannot give so short a ttl
	 */
	static LockParameters of(LockSpec spec, LockRequest request, EngineSettings settings, StoreTraits traits,
			boolean outlasting) {
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
		long longest = (maxHold != null) ? maxHold.toNanos() : Time.FOREVER;
		return new LockParameters(spec.key(), spec.name(), lease(spec, ttl, traits), renew,
				renew ? longest : ttl.toNanos(), spec.minHold().toNanos(), request.onLost(),
				Boolean.TRUE.equals(request.asyncRelease())
						|| (request.asyncRelease() == null && settings.asyncRelease()));
	}

	private static Duration lease(LockSpec spec, Duration ttl, StoreTraits traits) {
		if (ttl.compareTo(traits.shortestTtl()) >= 0) {
			return traits.lease(ttl);
		}
		if (spec.ttl() != null) {
			throw new IllegalArgumentException(LockMessages.ttlTooShort(spec.key(), ttl, traits));
		}
		return traits.shortestTtl();
	}

	long ttlNanos() {
		return this.ttl.toNanos();
	}

	/**
	 * Returns when a hold that starts at the given time must end.
	 */
	long limitFrom(long start) {
		return start + this.maxHold;
	}

	/**
	 * Returns the length of the lease that a hand-over to such a waiter gives, in
	 * milliseconds.
	 */
	int grantMillis() {
		return (int) (Math.min(ttlNanos(), MAX_GRANT) / 1_000_000);
	}

}
