package io.github.lockspring.engine;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;

import io.github.lockspring.store.AcquireRequest;
import io.github.lockspring.store.AcquireRequest.QueueMode;
import io.github.lockspring.store.AcquireResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseRequest;
import io.github.lockspring.store.ReleaseResult;
import io.github.lockspring.store.RenewRequest;
import io.github.lockspring.store.RenewResult;
import org.jspecify.annotations.Nullable;

/**
 * A model of the store, for one key: the rules of {@code docs/protocol.md} and nothing
 * else. For one thread.
 */
final class PlayedStore {

	private final PlayedWorld world;

	private @Nullable OwnerToken owner;

	/** Whether the lock is only kept until its end, and belongs to no token any more. */
	private boolean kept;

	private long expiry;

	private long fencingToken;

	private static final Duration QUEUE_TTL = Duration.ofSeconds(60);

	private final Set<OwnerToken> queue = new LinkedHashSet<>();

	private long queueExpiry;

	PlayedStore(PlayedWorld world) {
		this.world = world;
	}

	AcquireResult acquire(AcquireRequest request) {
		expire();
		OwnerToken token = request.token();
		if (this.owner == null || isOwner(token)) {
			this.expiry = Math.max((this.owner != null) ? this.expiry : 0, end(request.ttl()));
			this.owner = token;
			this.queue.remove(token);
			return new AcquireResult.Acquired(nextFencingToken());
		}
		if (request.queueMode() != QueueMode.NONE) {
			this.queue.add(token);
			this.queueExpiry = end(QUEUE_TTL);
			boolean first = this.queue.iterator().next().equals(token);
			if (!this.kept && (first || request.queueMode() == QueueMode.REJOIN)) {
				this.world.publishWanted(this.owner);
			}
		}
		return new AcquireResult.Busy((this.expiry - this.world.now()) / 1_000_000,
				Math.max(this.fencingToken, micros() - 1));
	}

	ReleaseResult release(ReleaseRequest request) {
		expire();
		if (!isOwner(request.token())) {
			this.queue.remove(request.token());
			return new ReleaseResult.NotOwner(this.fencingToken);
		}
		this.fencingToken = Math.max(this.fencingToken, request.lastFencingToken());
		if (!request.keep().isZero()) {
			this.kept = true;
			this.expiry = end(request.keep());
			return new ReleaseResult.Released();
		}
		this.owner = null;
		while (this.owner == null && !this.queue.isEmpty()) {
			OwnerToken next = this.queue.iterator().next();
			this.queue.remove(next);
			if (this.world.isSubscribed(next)) {
				this.owner = next;
				this.expiry = end(Duration.ofMillis(next.grantMillis()));
				this.world.publishGranted(next, nextFencingToken(), !this.queue.isEmpty());
			}
		}
		return new ReleaseResult.Released();
	}

	RenewResult renew(RenewRequest request) {
		expire();
		if (!isOwner(request.token())) {
			return RenewResult.NOT_OWNER;
		}
		this.expiry = Math.max(this.expiry, end(request.ttl()));
		return RenewResult.RENEWED;
	}

	boolean isFree() {
		expire();
		return this.owner == null && this.queue.isEmpty();
	}

	private boolean isOwner(OwnerToken token) {
		return token.equals(this.owner) && !this.kept;
	}

	private void expire() {
		if (this.owner != null && this.world.now() >= this.expiry) {
			this.owner = null;
			this.kept = false;
		}
		if (this.world.now() >= this.queueExpiry) {
			this.queue.clear();
		}
	}

	private long end(Duration ttl) {
		return this.world.now() + ttl.toNanos();
	}

	private long nextFencingToken() {
		this.fencingToken = Math.max(this.fencingToken + 1, micros());
		return this.fencingToken;
	}

	private long micros() {
		return this.world.now() / 1000;
	}

	@Override
	public String toString() {
		return this.owner + (this.kept ? " kept" : "") + " for " + (this.expiry - this.world.now()) / 1_000_000 + "ms, "
				+ this.queue;
	}

}
