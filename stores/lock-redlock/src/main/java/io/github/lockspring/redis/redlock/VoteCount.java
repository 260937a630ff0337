package io.github.lockspring.redis.redlock;

import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.redlock.Vote.Granted;
import io.github.lockspring.redis.redlock.Vote.NoVote;
import io.github.lockspring.redis.redlock.Vote.OwnedByOther;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import org.jspecify.annotations.Nullable;

/**
 * Derives the outcome of one attempt from the votes.
 */
record VoteCount(Quorum quorum, Replies<Vote> votes) {

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

	/**
	 * Whether further votes cannot change the outcome. Without votes of a majority the
	 * outcome is not urgent: all replies are awaited, which the error describes.
	 */
	boolean isDecided() {
		return this.quorum.isReached(granted())
				|| this.quorum.isReached(voters()) && this.quorum.isBlocked(others() + unavailable());
	}

	Outcome outcome() {
		if (this.quorum.isReached(granted())) {
			return Outcome.ACQUIRED;
		}
		if (!this.quorum.isReached(voters())) {
			return Outcome.NO_QUORUM;
		}
		boolean busy = this.votes.all(OwnedByOther.class)
			.collect(Collectors.groupingBy(OwnedByOther::owner, Collectors.counting()))
			.values()
			.stream()
			.anyMatch((votes) -> this.quorum.isReached(votes.intValue()));
		return busy ? Outcome.BUSY : Outcome.SPLIT;
	}

	/**
	 * Returns the number of nodes that voted for the token.
	 */
	int granted() {
		return this.votes.count(Granted.class::isInstance);
	}

	private int others() {
		return this.votes.count(OwnedByOther.class::isInstance);
	}

	private int voters() {
		return granted() + others();
	}

	/**
	 * Returns the number of nodes that failed or must not vote.
	 */
	int unavailable() {
		return this.votes.failures().size() + this.votes.count(NoVote.class::isInstance);
	}

	/**
	 * Returns the largest fencing token of the nodes that voted for the token.
	 */
	long fencingToken() {
		return this.votes.all(Granted.class).mapToLong(Granted::fencingToken).max().orElse(0);
	}

	/**
	 * Describes the votes for others. The lock can be acquired when a majority of the
	 * nodes is free, not only when all of them are.
	 */
	Busy busy() {
		long remaining = this.votes.received()
			.values()
			.stream()
			.filter((vote) -> !(vote instanceof NoVote))
			.mapToLong((vote) -> (vote instanceof OwnedByOther other) ? remaining(other) : 0)
			.sorted()
			.toArray()[this.quorum.majority() - 1];
		long lastFencingToken = this.votes.all(OwnedByOther.class)
			.mapToLong(OwnedByOther::lastFencingToken)
			.max()
			.orElse(0);
		return new Busy((remaining == Long.MAX_VALUE) ? -1 : remaining, lastFencingToken);
	}

	private static long remaining(OwnedByOther other) {
		return (other.remainingMillis() < 0) ? Long.MAX_VALUE : other.remainingMillis();
	}

	/**
	 * Describes why no majority voted.
	 */
	LockUnavailableException noQuorum() {
		Function<Vote, @Nullable String> problem = (vote) -> (vote instanceof NoVote none) ? none.reason()
				: (vote instanceof OwnedByOther) ? "another owner has the lock" : null;
		return this.votes.unavailable(
				"%d of %d nodes can vote, %d needed".formatted(voters(), this.quorum.size(), this.quorum.majority()),
				problem);
	}

}
