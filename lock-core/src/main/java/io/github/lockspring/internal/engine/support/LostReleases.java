package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.OwnerToken;

/**
 * What ownerships that were lost have to release, for as long as the store may take them
 * for the owner: only their releases know the fencing tokens of local hand-offs.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class LostReleases {

	/** Between two removals of those that are not needed any more. */
	private static final long SWEEP_NANOS = 1_000_000_000;

	private final Map<OwnerToken, Lost> lost = new ConcurrentHashMap<>();

	private volatile long sweptAt;

	/** Creates an empty collection. */
	public LostReleases() {
	}

	/**
	 * Remembers the release of an ownership that is lost.
	 * @param release the release
	 * @param now the present time, in nanoseconds
	 */
	public void add(ReleaseRequest release, long now) {
		if (this.lost.isEmpty()) {
			this.sweptAt = now;
		}
		else if (now - this.sweptAt >= SWEEP_NANOS) {
			this.sweptAt = now;
			this.lost.values().removeIf((each) -> now - each.until() > 0);
		}
		if (release.lastFencingToken() > 0) {
			// a renewal that was given up may yet be carried out
			Duration longest = release.ttl().multipliedBy(2);
			this.lost.put(release.token(), new Lost(release, now + longest.toNanos()));
		}
	}

	/**
	 * Returns what to release for a token that nothing here owns.
	 * @param key the key
	 * @param token the token
	 * @return the release of the lost ownership, or one without a fencing token
	 */
	public ReleaseRequest release(String key, OwnerToken token) {
		Lost known = this.lost.get(token);
		return (known != null) ? known.release() : new ReleaseRequest(key, token);
	}

	/**
	 * A release, and for how long it may be needed.
	 */
	private record Lost(ReleaseRequest release, long until) {
	}

}
