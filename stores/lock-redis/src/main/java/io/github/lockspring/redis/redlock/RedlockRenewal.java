package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.redlock.NodeAcquireResult.Granted;
import io.github.lockspring.redis.redlock.RedlockNodeClient.NodeResult;
import io.github.lockspring.store.LockStore.AcquireRequest.QueueMode;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;

/**
 * Renews leases on a majority of nodes, many of them with one request.
 */
final class RedlockRenewal {

	/*
	 * A node that was unavailable or has lost a lock must vote again, once the renewal
	 * has succeeded without it. Otherwise a lock that is held for long would end when the
	 * last node of its first majority has restarted, however long that takes. The vote
	 * counts from the next renewal on: the present one says what the owner had, and votes
	 * given since must not decide it.
	 *
	 * `held` has the tokens that were acquired and have not ended, with the attempts that
	 * acquired their locks. A release first removes its token and then reaches all nodes,
	 * so a vote that is given too late is withdrawn by the release or by its own thread,
	 * which finds the token removed. A token that is not held is not renewed by any vote
	 * that may still exist. An ownership that ended while no node replied may never be
	 * reported: when there are too many tokens, those whose lease is over are removed.
	 *
	 * Renewals and releases carry the fencing token too. A node remembers one for a day,
	 * and a hold may last longer than that; the next holder's token would then come from
	 * the clocks of its majority, which may be behind the clock that this one came from.
	 */

	private static final int MIN_CAPACITY = 1000;

	/**
	 * An ownership.
	 *
	 * @param attempt the attempt that acquired the lock
	 * @param fencingToken its fencing token, without local hand-offs
	 * @param until when its lease is over, unless it is renewed
	 */
	record Held(long attempt, long fencingToken, long until) {

		private static final Held UNKNOWN = new Held(RedlockRequests.ANY_ATTEMPT, 0, 0);

	}

	private final Quorum quorum;

	private final RedlockRequests requests;

	private final Map<OwnerToken, Held> held = new ConcurrentHashMap<>();

	private volatile int capacity = MIN_CAPACITY;

	RedlockRenewal(Quorum quorum, RedlockRequests requests) {
		this.quorum = quorum;
		this.requests = requests;
	}

	/**
	 * Renews leases.
	 * @throws LockUnavailableException if no majority replied
	 */
	List<RenewResult> renew(List<RenewRequest> requests, Duration timeout, Duration firstTimeout)
			throws InterruptedException {
		AtomicReference<List<RenewResult>> decision = new AtomicReference<>(List.of());
		List<Held> owned = requests.stream()
			.map((request) -> this.held.getOrDefault(request.token(), Held.UNKNOWN))
			.toList();
		QuorumRequest<List<Boolean>> renewal = new QuorumRequest<>(this.quorum.nodes(),
				this.requests.renew(requests, owned), timeout, firstTimeout,
				(late) -> restore(late, requests, decision.get(), timeout));
		List<NodeResult<List<Boolean>>> received = new ArrayList<>();
		try {
			renewal.readUntil(() -> !results(received, requests.size()).contains(RenewResult.UNKNOWN), (result) -> {
				received.add(result);
				if (result instanceof NodeResult.Failure<List<Boolean>> failure) {
					renewal.fail(failure);
				}
				else {
					renewal.accept(result.node());
				}
			});
		}
		finally {
			received.addAll(renewal.close());
		}
		int replies = (int) received.stream().filter(NodeResult.Success.class::isInstance).count();
		if (!this.quorum.isReached(replies)) {
			throw renewal.unavailable(
					"%d of %d nodes replied, %d needed".formatted(replies, this.quorum.size(), this.quorum.majority()));
		}
		List<RenewResult> results = results(received, requests.size());
		update(requests, results);
		decision.set(results);
		received.forEach((result) -> restore(result, requests, results, timeout));
		return results;
	}

	/**
	 * Compares for each lease the nodes where the token is the owner, and where it is
	 * not, with the majority.
	 */
	private List<RenewResult> results(List<NodeResult<List<Boolean>>> received, int leases) {
		int[] owner = new int[leases];
		int[] notOwner = new int[leases];
		for (NodeResult<List<Boolean>> result : received) {
			if (result instanceof NodeResult.Success<List<Boolean>> success) {
				for (int i = 0; i < leases; i++) {
					int[] counter = success.result().get(i) ? owner : notOwner;
					counter[i]++;
				}
			}
		}
		return IntStream.range(0, leases).mapToObj((lease) -> result(owner[lease], notOwner[lease])).toList();
	}

	private RenewResult result(int owner, int notOwner) {
		if (this.quorum.isReached(owner)) {
			return RenewResult.RENEWED;
		}
		return this.quorum.isBlocked(notOwner) ? RenewResult.NOT_OWNER : RenewResult.UNKNOWN;
	}

	private void update(List<RenewRequest> requests, List<RenewResult> results) {
		for (int i = 0; i < results.size(); i++) {
			RenewRequest request = requests.get(i);
			if (results.get(i) == RenewResult.NOT_OWNER) {
				end(request.token());
			}
			else if (results.get(i) == RenewResult.RENEWED) {
				long until = System.nanoTime() + request.ttl().toNanos();
				this.held.computeIfPresent(request.token(),
						(token, held) -> new Held(held.attempt(), held.fencingToken(), until));
			}
		}
	}

	/**
	 * Requests the votes of a node for locks that were renewed without it.
	 */
	private void restore(NodeResult<List<Boolean>> result, List<RenewRequest> requests, List<RenewResult> results,
			Duration timeout) {
		if (result instanceof NodeResult.Success<List<Boolean>> success) {
			for (int i = 0; i < results.size(); i++) {
				RenewRequest request = requests.get(i);
				Held held = this.held.get(request.token());
				if (results.get(i) == RenewResult.RENEWED && !success.result().get(i) && held != null) {
					AcquireRequest vote = new AcquireRequest(request.key(), request.token(), request.ttl(),
							QueueMode.NONE);
					success.node()
						.send(this.requests.acquire(vote, held.attempt()), timeout,
								(given) -> withdrawIfEnded(request, given, timeout));
				}
			}
		}
	}

	private void withdrawIfEnded(RenewRequest request, NodeResult<NodeAcquireResult> result, Duration timeout) {
		boolean possible = !(result instanceof NodeResult.Success<NodeAcquireResult> success)
				|| success.result() instanceof Granted;
		if (possible && !this.held.containsKey(request.token())) {
			ReleaseRequest release = new ReleaseRequest(request.key(), request.token());
			result.node().send(this.requests.release(release, 0), timeout, (withdrawn) -> {
			});
		}
	}

	/**
	 * Records the beginning of an ownership.
	 * @param attempt the attempt that acquired the lock
	 */
	void begin(OwnerToken token, long attempt, long fencingToken, Duration ttl) {
		long now = System.nanoTime();
		this.held.put(token, new Held(attempt, fencingToken, now + ttl.toNanos()));
		if (this.held.size() > this.capacity) {
			this.held.values().removeIf((held) -> held.until() - now < 0);
			this.capacity = Math.max(MIN_CAPACITY, 2 * this.held.size());
		}
	}

	/**
	 * Records the end of an ownership: votes that may still be given are unwanted.
	 * @return its fencing token, 0 if it is not known
	 */
	long end(OwnerToken token) {
		Held ended = this.held.remove(token);
		return (ended != null) ? ended.fencingToken() : 0;
	}

}
