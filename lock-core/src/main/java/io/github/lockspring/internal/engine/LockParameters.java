package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.LockRequest;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.base.LockOptions;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

/**
 * One key of a {@link LockRequest} with the defaults applied; times in nanoseconds unless
 * they are a {@link Duration}.
 *
 * @param key the key
 * @param name the label, or null
 * @param ttl length of the lease to request
 * @param renew the value in the request, for messages: {@code maxHold} decides, and
 * {@link LockRequest} and the annotation have the default
 * @param maxHold the longest hold, from the acquisition, after which the lease ends;
 * {@link Time#FOREVER} for none; without renewal the ttl that was asked for, even if the
 * store gives less at once
 * @param minHold time from the acquisition before which the lock is not released
 * @param onLost what happens on a loss
 * @param asyncRelease whether the holder goes on when the release is on its way
 */
record LockParameters(String key, @Nullable String name, Duration ttl, boolean renew, long maxHold, long minHold,
		OnLost onLost, boolean asyncRelease) {

	private static final long MAX_GRANT = Duration.ofSeconds(5).toNanos();

	/**
	 * Applies the defaults, and what the store can give.
	 * @throws IllegalArgumentException if options of the request contradict each other,
	 * or the store cannot give so short a ttl
	 */
	static LockParameters of(String key, LockRequest request, EngineSettings settings, StoreTraits traits) {
		LockOptions.checkTogether(request.ttl(), request.isRenewed(), request.maxHold());
		Duration ttl = (request.ttl() != null) ? request.ttl() : settings.ttl();
		long maxHold = ttl.toNanos();
		if (request.isRenewed()) {
			Duration longest = (request.maxHold() != null) ? request.maxHold() : settings.maxHold();
			if (longest != null && request.ttl() == null && longest.compareTo(ttl) < 0) {
				ttl = longest;
			}
			maxHold = (longest != null) ? Math.max(longest.toNanos(), ttl.toNanos()) : Time.FOREVER;
		}
		return new LockParameters(key, request.nameOf(key), lease(key, request, ttl, traits), request.isRenewed(),
				maxHold, request.minHold().toNanos(), request.onLost(), settings.asyncRelease());
	}

	private static Duration lease(String key, LockRequest request, Duration ttl, StoreTraits traits) {
		if (ttl.compareTo(traits.shortestTtl()) >= 0) {
			return traits.lease(ttl);
		}
		if (request.ttl() != null) {
			throw new IllegalArgumentException(LockMessages.ttlTooShort(key, ttl, traits));
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
