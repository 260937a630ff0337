package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;

/**
 * Renews leases on a majority of nodes, many of them with one request.
 */
/*
 * For maintainers: a node that was unavailable or has lost a lock must vote again, once
 * the renewal has succeeded without it. Otherwise a lock that is held for long would end
 * when the last node of its first majority has restarted, however long that takes. The
 * vote counts from the next renewal on: the present one shows what the owner had, and
 * votes given since must not decide it.
 *
 * `held` has the tokens that were acquired and not released. A vote is requested while
 * the map holds its token there, so before the release, which removes the token first, is
 * sent: each node withdraws it after it has given it.
 *
 * Renewals and releases carry the fencing token too. A node remembers one for a day, and
 * a hold may last longer than that; the next holder's token would then come from the
 * clocks of its majority, which may be behind the clock that this one came from.
 */
final class RedlockRenewal {

	/**
	 * An ownership.
	 *
	 * @param attempt the attempt that acquired the lock
	 * @param fencingToken its fencing token, without local hand-offs
	 */
	record Held(long attempt, long fencingToken) {

		private static final Held UNKNOWN = new Held(RedlockRequests.ANY_ATTEMPT, 0);

	}

	private final Quorum quorum;

	private final RedlockRequests requests;

	private final Map<OwnerToken, Held> held = new ConcurrentHashMap<>();

	RedlockRenewal(Quorum quorum, RedlockRequests requests) {
		this.quorum = quorum;
		this.requests = requests;
	}

	/**
	 * Renews leases.
	 * @return fails if no majority replied
	 */
	CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		List<Held> owned = requests.stream()
			.map((request) -> this.held.getOrDefault(request.token(), Held.UNKNOWN))
			.toList();
		var renewal = this.requests.renew(requests, owned, timeout);
		CompletableFuture<List<RenewResult>> decision = new CompletableFuture<>();
		this.quorum.<List<Boolean>>ask((node) -> {
			CompletableFuture<List<Boolean>> reply = renewal.apply(node);
			// also if it arrives later
			reply.thenAcceptBoth(decision, (owns, results) -> restore(node, owns, requests, results, timeout));
			return reply;
		}, (replies) -> !results(replies, requests.size()).contains(RenewResult.UNKNOWN)).thenAccept((replies) -> {
			int received = replies.received().size();
			if (this.quorum.isReached(received)) {
				decision.complete(results(replies, requests.size()));
			}
			else {
				decision.completeExceptionally(replies.unavailable("%d of %d nodes replied, %d needed"
					.formatted(received, this.quorum.size(), this.quorum.majority()), (owns) -> null));
			}
		});
		return decision;
	}

	/**
	 * Compares for each lease the nodes where the token is the owner, and where it is
	 * not, with the majority.
	 */
	private List<RenewResult> results(Replies<List<Boolean>> replies, int leases) {
		return IntStream.range(0, leases).mapToObj((lease) -> {
			int owner = replies.count((owns) -> owns.get(lease));
			if (this.quorum.isReached(owner)) {
				return RenewResult.RENEWED;
			}
			return this.quorum.isBlocked(replies.received().size() - owner) ? RenewResult.NOT_OWNER
					: RenewResult.UNKNOWN;
		}).toList();
	}

	/**
	 * Requests the votes of a node for locks that were renewed without it.
	 */
	private void restore(RedlockNodeClient node, List<Boolean> owns, List<RenewRequest> requests,
			List<RenewResult> results, Duration timeout) {
		for (int i = 0; i < results.size(); i++) {
			RenewRequest request = requests.get(i);
			if (results.get(i) == RenewResult.RENEWED && !owns.get(i)) {
				AcquireRequest vote = new AcquireRequest(request.key(), request.token(), request.ttl(), false);
				this.held.computeIfPresent(request.token(), (token, held) -> {
					this.requests.vote(vote, held.attempt(), timeout).apply(node);
					return held;
				});
			}
		}
	}

	/**
	 * Records the beginning of an ownership.
	 * @param attempt the attempt that acquired the lock
	 */
	void begin(OwnerToken token, long attempt, long fencingToken) {
		this.held.put(token, new Held(attempt, fencingToken));
	}

	/**
	 * Records the end of an ownership.
	 * @return its fencing token, 0 if it is not known
	 */
	long end(OwnerToken token) {
		Held ended = this.held.remove(token);
		return (ended != null) ? ended.fencingToken() : 0;
	}

}
