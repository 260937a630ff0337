package io.github.lockspring.internal.engine;

import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
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
	private final Set<AcquireRequest> attempts = Collections.newSetFromMap(new IdentityHashMap<>());

	/** Tokens that a release was carried out for. */
	private final Set<OwnerToken> released = new HashSet<>();

	/** Tokens that may be in the store although nobody knows them. */
	private final Set<OwnerToken> orphans = new HashSet<>();

	void lostData(Collection<OwnerToken> owners) {
		this.forgotten.addAll(owners);
	}

	/** An attempt may be carried out again, or late, after its own release. */
	void acquired(AcquireRequest request) {
		if (!this.attempts.add(request) || this.released.contains(request.token())) {
			this.orphans.add(request.token());
		}
	}

	void released(OwnerToken token) {
		this.released.add(token);
	}

	void lostRelease(OwnerToken token) {
		this.orphans.add(token);
	}

	/** Whether it may be believed to own the lock although the store says otherwise. */
	boolean excuseHolder(OwnerToken token) {
		return this.forgotten.contains(token);
	}

	/** Whether it may be in the store, unknown to its instance. */
	boolean excuseOrphan(OwnerToken token) {
		return this.orphans.contains(token);
	}

}
