package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireRequest;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseResult;
import io.github.lockspring.store.ReleaseResult.NotOwner;
import io.github.lockspring.store.ReleaseResult.Released;
import io.github.lockspring.store.ReleaseRequest;
import io.github.lockspring.store.RenewRequest;

/**
 * Puts requests to a single node, as scripts.
 */
final class RedlockRequests {

	private static final Duration LEAST_FENCE_KEEP = Duration.ofMinutes(10);

	/** Larger than all others, and exact in Lua. */
	static final long ANY_ATTEMPT = 9007199254740991L;

	private static final int MORE_PATIENCE = 3;

	private static final int PAUSES_IN_A_TIMEOUT = 4;

	private final RedlockSettings settings;

	private final RedisKeys keys;

	RedlockRequests(RedlockSettings settings) {
		this.settings = settings;
		this.keys = new RedisKeys(settings.keyPrefix());
	}

	BiFunction<Voter, Duration, Vote> vote(AcquireRequest request, long attempt) {
		return vote(request.key(), request.token(), attempt, request.ttl());
	}

	/**
	 * Asks for the vote for an owner that has the lock already.
	 */
	BiFunction<Voter, Duration, Vote> voteForHeld(RenewRequest request, long attempt) {
		return vote(request.key(), request.token(), attempt, request.ttl());
	}

	private BiFunction<Voter, Duration, Vote> vote(String key, OwnerToken owner, long attempt, Duration lease) {
		List<String> lockAndFence = lockAndFence(key);
		String token = owner.toString();
		String ttl = lease(lease);
		String pause = String.valueOf(this.settings.pauseSeconds());
		return (voter, timeout) -> {
			Object[] args = { token, String.valueOf(attempt), ttl, pause, (voter.runId() == null) ? "1" : "0" };
			return Vote.parse(voter.run(RedlockScripts.VOTE, lockAndFence, args, timeout));
		};
	}

	/**
	 * Is answered whether the token owns the lock on the node.
	 */
	BiFunction<Voter, Duration, Boolean> confirm(AcquireRequest request, long attempt, long fencingToken) {
		List<String> lockAndFence = lockAndFence(request.key());
		Object[] args = { request.token().toString(), String.valueOf(attempt), lease(request.ttl()),
				String.valueOf(fencingToken), fenceKeep(request.ttl()) };
		return (voter, timeout) -> voter.run(RedlockScripts.CONFIRM, lockAndFence, args, timeout).equals("1");
	}

	BiFunction<Voter, Duration, ReleaseResult> withdraw(AcquireRequest request, long attempt) {
		return withdraw(request.key(), request.token(), attempt, 0, Duration.ZERO, Duration.ZERO);
	}

	BiFunction<Voter, Duration, ReleaseResult> release(ReleaseRequest request) {
		return withdraw(request.key(), request.token(), ANY_ATTEMPT, request.lastFencingToken(), request.keep(),
				request.ttl());
	}

	private BiFunction<Voter, Duration, ReleaseResult> withdraw(String key, OwnerToken token, long attempt,
			long lastFencingToken, Duration keep, Duration ttl) {
		List<String> lockAndFence = lockAndFence(key);
		Object[] args = { token.toString(), String.valueOf(attempt), String.valueOf(lastFencingToken),
				keep.isZero() ? "0" : lease(keep), fenceKeep(ttl) };
		return (voter, timeout) -> {
			String answer = insist(timeout, () -> voter.run(RedlockScripts.WITHDRAW, lockAndFence, args, timeout));
			return answer.equals("1") ? new Released() : new NotOwner(fencingToken(answer));
		};
	}

	/*
	 * What is not taken back stays for the ttl. A busy machine may give up a command
	 * before it is sent, and whoever waits for this goes when its time is over: so it is
	 * tried again for a while, on the node's thread.
	 */
	private static String insist(Duration timeout, Supplier<String> request) {
		long start = System.nanoTime();
		while (true) {
			try {
				return request.get();
			}
			catch (LockUnavailableException ex) {
				if (System.nanoTime() - start >= timeout.toNanos() * MORE_PATIENCE
						|| Thread.currentThread().isInterrupted()) {
					throw ex;
				}
			}
			LockSupport.parkNanos(timeout.toNanos() / PAUSES_IN_A_TIMEOUT);
		}
	}

	private static long fencingToken(String answer) {
		try {
			return Long.parseLong(answer.substring(2));
		}
		catch (IndexOutOfBoundsException | NumberFormatException ex) {
			throw UnavailableTranslator.unexpected(answer);
		}
	}

	/**
	 * Is answered for each request whether the token owns its lock on the node.
	 * @param attempts the attempts that got the locks, in the order of the requests
	 */
	BiFunction<Voter, Duration, List<Boolean>> renew(List<RenewRequest> requests, List<Long> attempts) {
		List<String> locks = new ArrayList<>(requests.size());
		List<String> args = new ArrayList<>(3 * requests.size());
		for (int i = 0; i < requests.size(); i++) {
			RenewRequest request = requests.get(i);
			locks.add(this.keys.lock(request.key()));
			Collections.addAll(args, request.token().toString(), attempts.get(i).toString(), lease(request.ttl()));
		}
		return (voter, timeout) -> {
			List<Object> reply = voter.run(RedlockScripts.RENEW_VOTES, locks, args.toArray(), timeout);
			if (reply.size() != requests.size()) {
				throw UnavailableTranslator.unexpected(reply);
			}
			return reply.stream().map((answer) -> "1".equals(String.valueOf(answer))).toList();
		};
	}

	private List<String> lockAndFence(String key) {
		String lock = this.keys.lock(key);
		return List.of(lock, RedisKeys.sibling(lock, "fence"));
	}

	// a node whose clock is fast must not end a lease before its holder does
	private String lease(Duration lease) {
		return String.valueOf(millis(lease.plus(this.settings.drift(lease))));
	}

	private static String fenceKeep(Duration ttl) {
		Duration twice = ttl.plus(ttl);
		return String.valueOf(millis((twice.compareTo(LEAST_FENCE_KEEP) > 0) ? twice : LEAST_FENCE_KEEP));
	}

	private static long millis(Duration duration) {
		return TimeUnit.NANOSECONDS.toMillis(duration.toNanos() + TimeUnit.MILLISECONDS.toNanos(1) - 1);
	}

}
