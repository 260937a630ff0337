package io.github.lockspring.redis.redlock;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.lockspring.redis.redlock.NodeAcquireResult.Granted;
import io.github.lockspring.redis.redlock.NodeAcquireResult.OwnedByOther;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;

/**
 * Counts the votes of one attempt and derives its outcome. For one thread.
 */
final class AcquireTally {

	enum Outcome {

		/** A majority voted for the token. */
		ACQUIRED,

		/** Another owner has a majority. */
		BUSY,

		/** Others have votes, but possibly no majority. */
		SPLIT,

		/** A majority did not reply, or must not vote. */
		NO_QUORUM

	}

	private final Quorum quorum;

	private final List<NodeAcquireResult> votes = new ArrayList<>();

	private int unavailable;

	AcquireTally(Quorum quorum) {
		this.quorum = quorum;
	}

	/**
	 * Counts a vote, for the token or for another one.
	 */
	void add(NodeAcquireResult vote) {
		this.votes.add(vote);
	}

	/**
	 * Counts a node that did not reply or must not vote.
	 */
	void addUnavailable() {
		this.unavailable++;
	}

	/**
	 * Whether further results cannot change the outcome. Without votes of a majority the
	 * outcome is not urgent: all results are awaited, so no vote is left behind.
	 */
	boolean isDecided() {
		int against = this.votes.size() - granted() + this.unavailable;
		return this.quorum.isReached(granted())
				|| this.quorum.isReached(this.votes.size()) && this.quorum.isBlocked(against);
	}

	Outcome outcome() {
		if (this.quorum.isReached(granted())) {
			return Outcome.ACQUIRED;
		}
		if (!this.quorum.isReached(this.votes.size())) {
			return Outcome.NO_QUORUM;
		}
		Map<String, Integer> owners = new HashMap<>();
		others().forEach((vote) -> owners.merge(vote.owner(), 1, Integer::sum));
		return owners.values().stream().anyMatch(this.quorum::isReached) ? Outcome.BUSY : Outcome.SPLIT;
	}

	/**
	 * Whether all nodes that replied or failed were able to vote.
	 */
	boolean isComplete() {
		return this.unavailable == 0;
	}

	/**
	 * Returns the number of nodes that voted, for any token.
	 */
	int votes() {
		return this.votes.size();
	}

	/**
	 * Returns the number of nodes that voted for the token.
	 */
	int granted() {
		return (int) this.votes.stream().filter(Granted.class::isInstance).count();
	}

	/**
	 * Returns the largest fencing token of the nodes that voted for the token.
	 */
	long fencingToken() {
		return this.votes.stream()
			.mapToLong((vote) -> (vote instanceof Granted granted) ? granted.fencingToken() : 0)
			.max()
			.orElse(0);
	}

	/**
	 * Describes the votes for others. The lock can be acquired when a majority of the
	 * nodes is free, not only when all of them are.
	 */
	Busy busy() {
		long remaining = this.votes.stream()
			.mapToLong((vote) -> (vote instanceof OwnedByOther other) ? remaining(other) : 0)
			.sorted()
			.toArray()[this.quorum.majority() - 1];
		long lastFencingToken = others().mapToLong(OwnedByOther::lastFencingToken).max().orElse(0);
		return new Busy((remaining == Long.MAX_VALUE) ? -1 : remaining, lastFencingToken);
	}

	private static long remaining(OwnedByOther other) {
		return (other.remainingMillis() < 0) ? Long.MAX_VALUE : other.remainingMillis();
	}

	private Stream<OwnedByOther> others() {
		return this.votes.stream().filter(OwnedByOther.class::isInstance).map(OwnedByOther.class::cast);
	}

}
