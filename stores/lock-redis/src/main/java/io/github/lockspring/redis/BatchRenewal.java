package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.redis.internal.client.RedisScriptExecutor;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import org.jspecify.annotations.Nullable;

/**
 * Renews many leases with few scripts: one, or in a cluster one for each hash slot, since
 * all keys of a script must be in the same slot.
 *
 * @param sharded whether servers may share the keys
 */
record BatchRenewal(RedisScriptExecutor scripts, RedisKeys keys, boolean sharded) {

	CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		if (requests.isEmpty()) {
			return CompletableFuture.completedFuture(List.of());
		}
		return this.sharded ? renewInCluster(requests, timeout) : renewGroup(requests, timeout);
	}

	private CompletionStage<List<RenewResult>> renewInCluster(List<RenewRequest> requests, Duration timeout) {
		Map<Integer, List<RenewRequest>> bySlot = new TreeMap<>();
		requests.forEach((request) -> bySlot
			.computeIfAbsent(RedisKeys.slot(this.keys.lock(request.key())), (slot) -> new ArrayList<>())
			.add(request));
		return inGroups(requests, bySlot.values(), timeout, this::renewSlot);
	}

	/*
	 * While a slot migrates, a script is refused if some of its keys have migrated
	 * already and others have not. Each of them alone is accepted.
	 */
	private CompletionStage<List<RenewResult>> renewSlot(List<RenewRequest> requests, Duration timeout) {
		return renewGroup(requests, timeout)
			.exceptionallyCompose((failure) -> (requests.size() > 1 && RedisErrors.isTryAgain(failure))
					? inGroups(requests, requests.stream().map(List::of).toList(), timeout, this::renewGroup)
					: CompletableFuture.failedFuture(failure));
	}

	/*
	 * A slot that is migrating may hang, so each group gets half of the time that is
	 * left; all of them get the same half where they do not wait for each other. A
	 * request whose group has no result in time is UNKNOWN.
	 */
	private static CompletionStage<List<RenewResult>> inGroups(List<RenewRequest> requests,
			Collection<List<RenewRequest>> groups, Duration timeout,
			BiFunction<List<RenewRequest>, Duration, CompletionStage<List<RenewResult>>> renewal) {
		long end = System.nanoTime() + timeout.toNanos();
		int remaining = groups.size();
		Map<RenewRequest, RenewResult> results = new ConcurrentHashMap<>();
		AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
		List<CompletableFuture<?>> all = new ArrayList<>();
		for (List<RenewRequest> group : groups) {
			long left = end - System.nanoTime();
			if (left > 0) {
				Duration share = Duration.ofNanos((remaining-- > 1) ? left / 2 : left);
				all.add(renewal.apply(group, share)
					.toCompletableFuture()
					.orTimeout(share.toNanos(), TimeUnit.NANOSECONDS)
					.handle((reply, problem) -> {
						for (int i = 0; problem == null && i < reply.size(); i++) {
							results.put(group.get(i), reply.get(i));
						}
						if (problem != null) {
							failure.set(problem);
						}
						return true;
					}));
			}
		}
		return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).thenApply((done) -> {
			Throwable problem = failure.get();
			if (results.isEmpty() && problem != null) {
				throw (problem instanceof TimeoutException)
						? new LockUnavailableException("No reply to a renewal", problem) : Stages.unavailable(problem);
			}
			return requests.stream().map((request) -> results.getOrDefault(request, RenewResult.UNKNOWN)).toList();
		});
	}

	/*
	 * A proxy that shares the keys among servers sends a script to the server of its
	 * first key, where the other locks may be missing. So a batch never shows that a lock
	 * is lost.
	 */
	private CompletionStage<List<RenewResult>> renewGroup(List<RenewRequest> requests, Duration timeout) {
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
		return inGroups(missing, missing.stream().map(List::of).toList(), timeout, this::renewAtOnce)
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
