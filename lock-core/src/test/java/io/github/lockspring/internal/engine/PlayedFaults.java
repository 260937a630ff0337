package io.github.lockspring.internal.engine;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.OwnerToken;

/**
 * What the store and the network have done wrong in a played history, and what that
 * excuses.
 */
final class PlayedFaults {

	/** Tokens that owned the lock when the store lost its data. */
	private final Set<OwnerToken> forgotten = new HashSet<>();

	/** Attempts that were carried out. */
	private final Set<AcquireRequest> carriedOut = Collections.newSetFromMap(new IdentityHashMap<>());

	/**
	 * Those that were carried out after a release of their token, or when it was given
	 * up.
	 */
	private final Map<AcquireRequest, OwnerToken> late = new IdentityHashMap<>();

	/** Tokens whose attempt was carried out twice. */
	private final Set<OwnerToken> repeated = new HashSet<>();

	/** Tokens that a release was carried out for. */
	private final Set<OwnerToken> released = new HashSet<>();

	/** Until when the release of a token is repeated. */
	private final Map<OwnerToken, Long> releasing = new HashMap<>();

	/** Tokens that stay in the store for longer than their lease was to last. */
	private final Set<OwnerToken> givenUp = new HashSet<>();

	void lostData(Collection<OwnerToken> owners) {
		this.forgotten.addAll(owners);
	}

	void acquired(AcquireRequest request, long now) {
		if (!this.carriedOut.add(request)) {
			this.repeated.add(request.token());
		}
		else if (this.released.contains(request.token()) || isOver(request.token(), now)) {
			this.late.put(request, request.token());
		}
		handedOver(request.token());
	}

	/** The instance has received the result of an attempt. */
	void answered(AcquireRequest request) {
		this.late.remove(request);
	}

	void releasing(OwnerToken token, long until) {
		this.releasing.put(token, until);
	}

	void released(OwnerToken token) {
		this.released.add(token);
	}

	/** Whether it may be believed to own the lock although the store says otherwise. */
	boolean excuseHolder(OwnerToken token) {
		return this.forgotten.contains(token);
	}

	/** A token is given the lock, or more time, perhaps after its release was sent. */
	void handedOver(OwnerToken token) {
		if (this.releasing.containsKey(token)) {
			this.givenUp.add(token);
		}
	}

	/**
	 * A message has told an instance that the store has its token.
	 * @param ending whether a release is under way, which may have been carried out
	 */
	void told(OwnerToken token, boolean ending) {
		if (!ending) {
			this.late.values().remove(token);
			this.repeated.remove(token);
		}
		this.givenUp.remove(token);
	}

	/**
	 * Whether a token may be in the store, unknown to its instance: it got there after
	 * its release, and the instance has no result that says so (yet); or a driver or the
	 * network has sent its attempt twice, of which one result arrives. It may also be
	 * left if its release had no answer until its lease was over, and it was in the queue
	 * until then, or a renewal was carried out meanwhile. None of them is left once a
	 * message has told the instance, unless a release was under way then.
	 */
	boolean excuseOrphan(OwnerToken token) {
		return this.late.containsValue(token) || this.repeated.contains(token) || this.givenUp.contains(token);
	}

	/** A token is in the queue. */
	void queued(OwnerToken token, long now) {
		if (isOver(token, now)) {
			this.givenUp.add(token);
		}
	}

	/** Whether a release may have been given up. */
	private boolean isOver(OwnerToken token, long now) {
		Long until = this.releasing.get(token);
		return until != null && now >= until;
	}

}
