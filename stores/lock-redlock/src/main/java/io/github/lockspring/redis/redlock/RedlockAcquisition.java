package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.redis.redlock.Vote.Granted;
import io.github.lockspring.redis.redlock.Vote.OwnedByOther;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult;

/**
 * A request for a lock: one attempt to get a majority, or a few if contenders split the
 * votes.
 */
/*
 * For maintainers: votes are confirmed by a majority, or withdrawn. A node withdraws
 * after it has given a vote that was requested before, so late votes need no care; those
 * of a lock that is acquired are welcome: the more nodes have it, the more of them may
 * fail while it is held. Its release withdraws them in the same way.
 */
final class RedlockAcquisition {

	/** Allowance for times that are measured in milliseconds. */
	private static final long ROUNDING_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

	private static final int MAX_TRIES = 4;

	/** Vote, confirm, and possibly withdraw. */
	private static final int REQUESTS_OF_AN_ATTEMPT = 3;

	/** Numbers the attempts of all stores, whose owner tokens differ. */
	private static final AtomicLong attempts = new AtomicLong();

	private final Quorum quorum;

	private final RedlockRequests requests;

	private final RedlockRenewal renewal;

	private final RedlockSettings settings;

	private final LongSupplier nanoTime;

	private final AcquireRequest request;

	private final Duration limit;

	private final long start;

	/**
	 * Creates an acquisition.
	 * @param limit the longest time for all requests
	 */
	RedlockAcquisition(Quorum quorum, RedlockRequests requests, RedlockRenewal renewal, RedlockSettings settings,
			LongSupplier nanoTime, AcquireRequest request, Duration limit) {
		this.quorum = quorum;
		this.requests = requests;
		this.renewal = renewal;
		this.settings = settings;
		this.nanoTime = nanoTime;
		this.request = request;
		this.limit = limit;
		this.start = nanoTime.getAsLong();
	}

	/**
	 * An attempt.
	 *
	 * @param number larger than those of all earlier attempts
	 * @param tries the number of attempts of this acquisition
	 */
	private record Attempt(long number, int tries, long sent, Duration timeout) {
	}

	/**
	 * Sends the requests.
	 * @return fails with {@link LockUnavailableException}
	 */
	CompletableFuture<AcquireResult> acquire() {
		return attempt(1, this.start);
	}

	private CompletableFuture<AcquireResult> attempt(int tries, long sent) {
		Duration part = this.limit.minusNanos(sent - this.start).dividedBy(REQUESTS_OF_AN_ATTEMPT);
		Attempt attempt = new Attempt(attempts.incrementAndGet(), tries, sent, this.settings.nodeTimeout(part));
		return this.quorum
			.ask(this.requests.vote(this.request, attempt.number(), attempt.timeout()),
					(votes) -> new VoteCount(this.quorum, votes).isDecided())
			.thenCompose((votes) -> complete(attempt, new VoteCount(this.quorum, votes)));
	}

	private CompletableFuture<AcquireResult> complete(Attempt attempt, VoteCount count) {
		VoteCount.Outcome outcome = count.outcome();
		if (outcome == VoteCount.Outcome.ACQUIRED) {
			return confirm(attempt, count);
		}
		return withdraw(attempt, count).thenCompose((withdrawn) -> switch (outcome) {
			case NO_QUORUM -> CompletableFuture.failedFuture(count.noQuorum());
			case SPLIT -> again(attempt, count);
			default -> CompletableFuture.completedFuture(count.busy());
		});
	}

	/**
	 * Stores the largest fencing token of the votes on a majority of the nodes that still
	 * have this owner token.
	 */
	private CompletableFuture<AcquireResult> confirm(Attempt attempt, VoteCount count) {
		long fencingToken = count.fencingToken();
		return this.quorum
			.ask(this.requests.confirm(this.request, attempt.number(), fencingToken, attempt.timeout()),
					(replies) -> this.quorum.isReached(confirmed(replies)))
			.thenApply((replies) -> {
				try {
					checkConfirmed(attempt, count, replies);
				}
				catch (LockUnavailableException ex) {
					withdraw(attempt, count);
					throw ex;
				}
				this.renewal.begin(this.request.token(), attempt.number(), fencingToken);
				return new Acquired(fencingToken);
			});
	}

	private void checkConfirmed(Attempt attempt, VoteCount count, Replies<String> replies) {
		if (!this.quorum.isReached(confirmed(replies))) {
			throw replies.unavailable(
					"%d of %d nodes voted and %d confirmed it, %d needed".formatted(count.granted(), this.quorum.size(),
							confirmed(replies), this.quorum.majority()),
					(problem) -> problem.isEmpty() ? null : problem);
		}
		Duration elapsed = Duration.ofNanos(this.nanoTime.getAsLong() - attempt.sent());
		Duration ttl = this.request.ttl();
		if (ttl.minus(elapsed).minus(this.settings.drift(ttl)).toNanos() <= ROUNDING_NANOS) {
			throw new LockUnavailableException("the nodes took " + RedisErrors.format(elapsed)
					+ " to vote and to confirm it, and the lease of " + RedisErrors.format(ttl) + " was over");
		}
	}

	private static int confirmed(Replies<String> replies) {
		return replies.count(String::isEmpty);
	}

	/**
	 * Withdraws the votes.
	 * @return completes when the nodes that are known to have voted have replied, so that
	 * a caller for whom the lock is busy leaves nothing there; never fails
	 */
	private CompletableFuture<?> withdraw(Attempt attempt, VoteCount count) {
		var withdrawal = this.requests.withdraw(this.request, attempt.number(), attempt.timeout());
		List<CompletableFuture<?>> withdrawals = new ArrayList<>();
		for (RedlockNodeClient node : this.quorum.nodes()) {
			Vote vote = count.votes().received().get(node);
			if (!(vote instanceof OwnedByOther)) {
				CompletableFuture<?> withdrawn = withdrawal.apply(node);
				if (vote instanceof Granted) {
					withdrawals.add(withdrawn);
				}
			}
		}
		return CompletableFuture.allOf(withdrawals.toArray(CompletableFuture<?>[]::new)).handle((all, failure) -> null);
	}

	/*
	 * Callers that request the same lock at the same moment may split the votes; all of
	 * them then withdraw theirs. The first one that tries again acquires the lock: a
	 * request that does not wait must not fail only because of that.
	 */
	private CompletableFuture<AcquireResult> again(Attempt attempt, VoteCount count) {
		long now = this.nanoTime.getAsLong();
		long window = Math.max(MIN_PAUSE_NANOS, 2 * (now - attempt.sent())) << attempt.tries();
		if (attempt.tries() == MAX_TRIES || count.unavailable() > 0
				|| now - this.start + window > this.limit.toNanos() / 2) {
			return CompletableFuture.completedFuture(count.busy());
		}
		return CompletableFuture
			.supplyAsync(() -> attempt(attempt.tries() + 1, this.nanoTime.getAsLong()), CompletableFuture
				.delayedExecutor(ThreadLocalRandom.current().nextLong(window), TimeUnit.NANOSECONDS, Runnable::run))
			.thenCompose(Function.identity());
	}

}
