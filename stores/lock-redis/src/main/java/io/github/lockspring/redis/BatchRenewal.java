package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.redis.internal.client.RedisConnections;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.redis.internal.client.RedisScriptExecutor;
import io.github.lockspring.redis.internal.client.ReplicatedScriptExecutor.TooFewReplicasException;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;

/**
 * Renews many leases with few scripts: one, or in a cluster one for each hash slot, since
 * all keys of a script must be in the same slot.
 */
final class BatchRenewal {

	private final RedisScriptExecutor scripts;

	private final RedisKeys keys;

	private final RedisConnections connections;

	/** Whether servers share the keys, as far as is known. */
	private volatile boolean sharded;

	BatchRenewal(RedisScriptExecutor scripts, RedisKeys keys, RedisConnections connections) {
		this.scripts = scripts;
		this.keys = keys;
		this.connections = connections;
		this.sharded = connections.topology() == RedisConnections.Topology.CLUSTER;
	}

	List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		if (requests.isEmpty()) {
			return List.of();
		}
		RenewResult[] results = new RenewResult[requests.size()];
		Arrays.fill(results, RenewResult.UNKNOWN);
		long start = System.nanoTime();
		if (this.sharded || !renewAtOnce(requests, results, timeout)) {
			renewInCluster(requests, results, timeout.minusNanos(System.nanoTime() - start));
		}
		return List.of(results);
	}

	/*
	 * A connection factory that is not one of Spring Data's does not say that its server
	 * is a node of a cluster; the server itself does.
	 */
	private boolean renewAtOnce(List<RenewRequest> requests, RenewResult[] results, Duration timeout) {
		try {
			return renewGroup(requests, IntStream.range(0, requests.size()).boxed().toList(), results, timeout, true);
		}
		catch (LockUnavailableException ex) {
			if (!RedisErrors.isCrossSlot(ex)) {
				throw ex;
			}
			this.sharded = true;
			return false;
		}
	}

	/*
	 * Callers batch their requests by shard, so there is hardly ever more than one server
	 * here. If there is, each gets an equal share of the time. A slot that is migrating
	 * may hang, so each one gets half of the time that is left.
	 */
	private void renewInCluster(List<RenewRequest> requests, RenewResult[] results, Duration timeout) {
		Map<String, Map<Integer, List<Integer>>> byShard = new TreeMap<>();
		for (int i = 0; i < requests.size(); i++) {
			String lock = this.keys.lock(requests.get(i).key());
			byShard.computeIfAbsent(this.connections.shard(lock), (shard) -> new TreeMap<>())
				.computeIfAbsent(RedisKeys.slot(lock), (slot) -> new ArrayList<>())
				.add(i);
		}
		inTurn(byShard.values(), timeout, (shards) -> shards, (bySlot, share) -> inTurn(bySlot.values(), share,
				BatchRenewal::halfUnlessLast, (group, groupShare) -> renewSlot(requests, group, results, groupShare)));
	}

	private static int halfUnlessLast(int remaining) {
		return (remaining > 1) ? 2 : 1;
	}

	/*
	 * While a slot migrates, a script is refused if some of its keys have migrated
	 * already and others have not. Each of them alone is accepted.
	 */
	private boolean renewSlot(List<RenewRequest> requests, List<Integer> group, RenewResult[] results,
			Duration timeout) {
		long start = System.nanoTime();
		try {
			return renewGroup(requests, group, results, timeout, group.size() == 1);
		}
		catch (LockUnavailableException ex) {
			if (group.size() == 1 || !RedisErrors.isTryAgain(ex)
					|| !inTurn(group.stream().map(List::of).toList(), timeout.minusNanos(System.nanoTime() - start),
							BatchRenewal::halfUnlessLast,
							(single, share) -> renewGroup(requests, single, results, share, true))) {
				throw ex;
			}
			return true;
		}
	}

	/**
	 * Renews one group after the other.
	 * @param divisor which part of the remaining time a group gets, given the number of
	 * remaining groups
	 * @return whether there was time for any of them
	 * @throws LockUnavailableException if all of them failed
	 */
	private static <G> boolean inTurn(Collection<G> groups, Duration timeout, IntUnaryOperator divisor,
			BiPredicate<G, Duration> renewal) {
		long end = System.nanoTime() + timeout.toNanos();
		int remaining = groups.size();
		boolean renewed = false;
		LockUnavailableException failure = null;
		for (G group : groups) {
			long left = end - System.nanoTime();
			if (left <= 0) {
				break;
			}
			try {
				renewed |= renewal.test(group, Duration.ofNanos(left / divisor.applyAsInt(remaining--)));
			}
			catch (LockUnavailableException ex) {
				failure = ex;
			}
		}
		if (!renewed && failure != null) {
			throw failure;
		}
		return renewed;
	}

	private boolean renewGroup(List<RenewRequest> requests, List<Integer> group, RenewResult[] results,
			Duration timeout, boolean repeat) {
		List<String> locks = new ArrayList<>(group.size());
		List<String> args = new ArrayList<>(2 * group.size());
		for (int i : group) {
			RenewRequest request = requests.get(i);
			locks.add(this.keys.lock(request.key()));
			Collections.addAll(args, request.token().toString(), String.valueOf(request.ttl().toMillis()));
		}
		List<Object> reply;
		RenewResult ownerResult = RenewResult.RENEWED;
		try {
			reply = repeat ? this.scripts.execute(RedisScripts.RENEW, locks, args.toArray(), timeout)
					: this.scripts.executeOnce(RedisScripts.RENEW, locks, args.toArray(), timeout);
		}
		catch (TooFewReplicasException ex) {
			// the master alone has renewed the leases, which does not count, but a token
			// that is not the owner even there has lost its lock
			reply = ex.reply();
			ownerResult = RenewResult.UNKNOWN;
			if (!reply.contains(0L)) {
				throw ex;
			}
		}
		if (reply.size() != group.size()) {
			throw RedisErrors.unexpected(reply);
		}
		for (int i = 0; i < reply.size(); i++) {
			results[group.get(i)] = "1".equals(String.valueOf(reply.get(i))) ? ownerResult : RenewResult.NOT_OWNER;
		}
		return true;
	}

}
