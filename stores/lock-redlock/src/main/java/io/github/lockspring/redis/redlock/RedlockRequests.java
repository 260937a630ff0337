package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.github.lockspring.internal.Stages;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.redis.redlock.RedlockRenewal.Held;
import io.github.lockspring.redis.redlock.Vote.NoVote;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.ReleaseResult.NotOwner;
import io.github.lockspring.store.LockStore.ReleaseResult.Released;
import io.github.lockspring.store.LockStore.RenewRequest;
import org.jspecify.annotations.Nullable;

/**
 * Creates the requests that are sent to single nodes, as scripts. Each completes within
 * the timeout of a node.
 */
final class RedlockRequests {

	/** Larger than all others, and exact in Lua. */
	static final long ANY_ATTEMPT = 9007199254740991L;

	private final Quorum quorum;

	private final RedlockSettings settings;

	private final RedisKeys keys;

	RedlockRequests(Quorum quorum, RedlockSettings settings) {
		this.quorum = quorum;
		this.settings = settings;
		this.keys = new RedisKeys(settings.keyPrefix());
	}

	/**
	 * Requests the vote of a node, and learns whether the node is available.
	 */
	Function<RedlockNodeClient, CompletableFuture<Vote>> vote(AcquireRequest request, long attempt, Duration timeout) {
		List<String> keys = this.keys.lockAndFencingToken(request.key());
		String token = request.token().toString();
		String ttl = lease(request.ttl());
		String pause = String.valueOf(this.settings.pauseSeconds());
		return (node) -> {
			Object[] args = { token, String.valueOf(attempt), ttl, pause, (node.runId() == null) ? "1" : "0" };
			return node.execute(RedlockScripts.ACQUIRE, keys, args, timeout)
				.thenApply((reply) -> counted(node, Vote.parse(reply)))
				.whenComplete((vote, failure) -> logAvailability(node, vote, failure));
		};
	}

	private Vote counted(RedlockNodeClient node, Vote vote) {
		if (!vote.runId().equals(Vote.UNKNOWN_RUN_ID)) {
			node.runId(vote.runId());
		}
		String duplicate = this.quorum.duplicate(node);
		return (duplicate != null) ? new NoVote(vote.runId(), duplicate) : vote;
	}

	private static void logAvailability(RedlockNodeClient node, @Nullable Vote vote, @Nullable Throwable failure) {
		if (failure != null) {
			// it may be another server when it returns
			node.runId(null);
			node.logAvailability(node.problem(Stages.unavailable(failure)));
		}
		else {
			node.logAvailability((vote instanceof NoVote none) ? none.reason() : null);
		}
	}

	/**
	 * Confirms an acquisition: stores its fencing token. Results in "" if the token owns
	 * the lock on the node, or in the reason why that does not count, to follow the name
	 * of the node.
	 */
	Function<RedlockNodeClient, CompletableFuture<String>> confirm(AcquireRequest request, long attempt,
			long fencingToken, Duration timeout) {
		var renewal = renew(List.of(new RenewRequest(request.key(), request.token(), request.ttl())),
				List.of(new Held(attempt, fencingToken)), timeout);
		return (node) -> renewal.apply(node).thenApply((owns) -> {
			String duplicate = this.quorum.duplicate(node);
			return !owns.get(0) ? "does not have the lock" : (duplicate != null) ? duplicate : "";
		});
	}

	Function<RedlockNodeClient, CompletableFuture<ReleaseResult>> withdraw(AcquireRequest request, long attempt,
			Duration timeout) {
		return withdraw(new ReleaseRequest(request.key(), request.token()), attempt, 0, timeout);
	}

	/**
	 * Releases a lock.
	 * @param fencingToken the fencing token of its ownership, 0 if it is not known
	 */
	Function<RedlockNodeClient, CompletableFuture<ReleaseResult>> release(ReleaseRequest request, long fencingToken,
			Duration timeout) {
		return withdraw(request, ANY_ATTEMPT, Math.max(fencingToken, request.lastFencingToken()), timeout);
	}

	private Function<RedlockNodeClient, CompletableFuture<ReleaseResult>> withdraw(ReleaseRequest request, long attempt,
			long lastFencingToken, Duration timeout) {
		List<String> keys = this.keys.lockAndFencingToken(request.key());
		Object[] args = { request.token().toString(), String.valueOf(attempt), String.valueOf(lastFencingToken),
				request.keep().isZero() ? "0" : lease(request.keep()) };
		return (node) -> node.execute(RedlockScripts.WITHDRAW, keys, args, timeout)
			.thenApply((reply) -> reply.equals("1") ? new Released()
					: RedisErrors.parse(reply, 2, (words) -> new NotOwner(Long.parseLong(words[1]))));
	}

	/**
	 * Executes a script that changes nothing.
	 */
	Function<RedlockNodeClient, CompletableFuture<List<Object>>> first(Duration timeout) {
		List<String> keys = this.keys.lockAndFencingToken("");
		return (node) -> node.execute(RedlockScripts.RENEW, keys, new Object[] { "-", "1", "1", "0" }, timeout);
	}

	/**
	 * Results in whether the token owns its lock on the node, for each request.
	 * @param owned their ownerships, in the order of the requests
	 */
	Function<RedlockNodeClient, CompletableFuture<List<Boolean>>> renew(List<RenewRequest> requests, List<Held> owned,
			Duration timeout) {
		List<String> keys = new ArrayList<>(2 * requests.size());
		List<String> args = new ArrayList<>(4 * requests.size());
		for (int i = 0; i < requests.size(); i++) {
			RenewRequest request = requests.get(i);
			Held held = owned.get(i);
			keys.addAll(this.keys.lockAndFencingToken(request.key()));
			Collections.addAll(args, request.token().toString(), String.valueOf(held.attempt()), lease(request.ttl()),
					String.valueOf(held.fencingToken()));
		}
		return (node) -> node.execute(RedlockScripts.RENEW, keys, args.toArray(), timeout).thenApply((reply) -> {
			if (reply.size() != requests.size()) {
				throw RedisErrors.unexpected(reply);
			}
			return reply.stream().map((number) -> "1".equals(String.valueOf(number))).toList();
		});
	}

	// a node whose clock is fast must not end a lease before its holder does
	private String lease(Duration lease) {
		return String.valueOf(millis(lease.plus(this.settings.drift(lease))));
	}

	private static long millis(Duration duration) {
		return TimeUnit.NANOSECONDS.toMillis(duration.toNanos() + TimeUnit.MILLISECONDS.toNanos(1) - 1);
	}

}
