package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * A model of the server, for one key: the rules of {@code docs/understand/protocol.md}
 * and nothing else. For one thread.
 */
final class PlayedStore {

	private static final Duration QUEUE_TTL = Duration.ofSeconds(60);

	/** How much later the turn of a token comes that needs no message. */
	private static final Duration DELAY_WITHOUT_MESSAGE = Duration.ofSeconds(1);

	/** A token in the queue. */
	private record Queued(OwnerToken token, long turn) {
	}

	private final PlayedWorld world;

	private final PlayedFaults faults;

	private @Nullable OwnerToken owner;

	/** Whether the lock is only kept until its end, and belongs to no token any more. */
	private boolean kept;

	private long expiry;

	private long fencingToken;

	private final List<Queued> queue = new ArrayList<>();

	private long queueExpiry;

	PlayedStore(PlayedWorld world, PlayedFaults faults) {
		this.world = world;
		this.faults = faults;
	}

	AcquireResult acquire(AcquireRequest request) {
		expire();
		OwnerToken token = request.token();
		this.faults.acquired(request, this.world.now());
		if (this.owner == null || isOwner(token)) {
			this.expiry = Math.max((this.owner != null) ? this.expiry : 0, end(request.ttl()));
			this.owner = token;
			if (request.queue()) {
				leave(token);
			}
			return new AcquireResult.Acquired(nextFencingToken());
		}
		if (request.queue()) {
			boolean added = join(token);
			if (!this.kept && (!added || this.queue.size() == 1)) {
				this.world.publishWanted(this.owner);
			}
		}
		return new AcquireResult.Busy((this.expiry - this.world.now()) / 1_000_000,
				Math.max(this.fencingToken, micros() - 1));
	}

	private boolean join(OwnerToken token) {
		this.queueExpiry = end(QUEUE_TTL);
		if (this.queue.stream().anyMatch((queued) -> queued.token.equals(token))) {
			return false;
		}
		this.queue.add(new Queued(token, token.needsMessage() ? this.world.now() : end(DELAY_WITHOUT_MESSAGE)));
		this.queue.sort(Comparator.comparingLong(Queued::turn));
		return true;
	}

	private void leave(OwnerToken token) {
		this.queue.removeIf((queued) -> queued.token.equals(token));
	}

	ReleaseResult release(ReleaseRequest request) {
		expire();
		this.faults.released(request.token());
		leave(request.token());
		if (!isOwner(request.token())) {
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
			OwnerToken next = this.queue.remove(0).token;
			if (!next.needsMessage() || this.world.isSubscribed(next)) {
				this.owner = next;
				this.expiry = end(Duration.ofMillis(next.grantMillis()));
				this.faults.handedOver(next);
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
		this.faults.handedOver(request.token());
		this.expiry = Math.max(this.expiry, end(request.ttl()));
		return RenewResult.RENEWED;
	}

	/**
	 * Forgets everything.
	 * @return the token that owned the lock, or null
	 */
	@Nullable OwnerToken loseData() {
		OwnerToken before = this.owner;
		this.owner = null;
		this.kept = false;
		this.fencingToken = 0;
		this.queue.clear();
		return before;
	}

	boolean isFree() {
		expire();
		return this.owner == null && this.queue.isEmpty();
	}

	/** How long a token owns the lock; negative if it does not. */
	long nanosLeft(OwnerToken token) {
		expire();
		return isOwner(token) ? this.expiry - this.world.now() : -1;
	}

	/** The owner, unless the lock is only kept, and all that are queued. */
	Set<OwnerToken> tokens() {
		expire();
		Set<OwnerToken> tokens = new LinkedHashSet<>();
		this.queue.forEach((queued) -> tokens.add(queued.token));
		if (this.owner != null && !this.kept) {
			tokens.add(this.owner);
		}
		return tokens;
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
				+ this.queue.stream().map(Queued::token).toList();
	}

}
