package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.redis.internal.client.RedisScriptExecutor;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;

/**
 * Renews many leases: with one script, or with one for each where servers share the keys,
 * since the keys of a script must be at one server.
 *
 * @param sharded whether servers may share the keys
 */
record BatchRenewal(RedisScriptExecutor scripts, RedisKeys keys, boolean sharded) {

	CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		if (requests.isEmpty()) {
			return CompletableFuture.completedFuture(List.of());
		}
		return this.sharded ? oneByOne(requests, timeout) : renewTogether(requests, timeout);
	}

	/*
	 * A server may hang, or a slot that is migrating, so each request gets half of the
	 * time that is left; all of them get the same half where they do not wait for each
	 * other. One that has no result in time is UNKNOWN.
	 */
	private CompletionStage<List<RenewResult>> oneByOne(List<RenewRequest> requests, Duration timeout) {
		long end = System.nanoTime() + timeout.toNanos();
		List<CompletableFuture<RenewResult>> results = new ArrayList<>();
		for (RenewRequest request : requests) {
			long left = end - System.nanoTime();
			Duration share = Duration.ofNanos((results.size() < requests.size() - 1) ? left / 2 : left);
			results.add((left <= 0) ? CompletableFuture.failedFuture(new TimeoutException())
					: renewAtOnce(List.of(request), share).toCompletableFuture()
						.orTimeout(share.toNanos(), TimeUnit.NANOSECONDS)
						.thenApply((alone) -> alone.get(0)));
		}
		return CompletableFuture.allOf(results.toArray(CompletableFuture[]::new)).handle((all, failure) -> {
			if (failure != null && results.stream().allMatch(CompletableFuture::isCompletedExceptionally)) {
				throw (failure.getCause() instanceof TimeoutException late)
						? new LockUnavailableException("No reply to a renewal", late) : Stages.unavailable(failure);
			}
			return results.stream()
				.map((result) -> result.exceptionally((alone) -> RenewResult.UNKNOWN).join())
				.toList();
		});
	}

	/*
	 * A proxy that shares the keys among servers sends a script to the server of its
	 * first key, where the other locks may be missing. So a batch never shows that a lock
	 * is lost.
	 */
	private CompletionStage<List<RenewResult>> renewTogether(List<RenewRequest> requests, Duration timeout) {
		long end = System.nanoTime() + timeout.toNanos();
		return renewAtOnce(requests, timeout)
			.thenCompose((results) -> (requests.size() > 1 && results.contains(RenewResult.NOT_OWNER))
					? renewMissing(requests, results, Duration.ofNanos(end - System.nanoTime()))
					: CompletableFuture.completedFuture(results));
	}

	private CompletionStage<List<RenewResult>> renewMissing(List<RenewRequest> requests, List<RenewResult> results,
			Duration timeout) {
		List<RenewRequest> missing = IntStream.range(0, requests.size())
			.filter((i) -> results.get(i) == RenewResult.NOT_OWNER)
			.mapToObj(requests::get)
			.toList();
		return oneByOne(missing, timeout)
			.exceptionally((failure) -> Collections.nCopies(missing.size(), RenewResult.UNKNOWN))
			.thenApply((replies) -> {
				Iterator<RenewResult> alone = replies.iterator();
				return results.stream()
					.map((result) -> (result == RenewResult.NOT_OWNER) ? alone.next() : result)
					.toList();
			});
	}

	private CompletionStage<List<RenewResult>> renewAtOnce(List<RenewRequest> requests, Duration timeout) {
		List<String> locks = new ArrayList<>(requests.size());
		List<String> args = new ArrayList<>(2 * requests.size());
		for (RenewRequest request : requests) {
			locks.add(this.keys.lock(request.key()));
			Collections.addAll(args, request.token().toString(), String.valueOf(request.ttl().toMillis()));
		}
		return this.scripts.execute(RedisScripts.RENEW, locks, args.toArray(), timeout).thenApply((reply) -> {
			if (reply.size() != requests.size()) {
				throw RedisErrors.unexpected(reply);
			}
			return reply.stream()
				.map((number) -> "1".equals(String.valueOf(number)) ? RenewResult.RENEWED : RenewResult.NOT_OWNER)
				.toList();
		});
	}

}
