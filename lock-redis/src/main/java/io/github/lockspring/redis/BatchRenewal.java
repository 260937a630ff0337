package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.RenewResult;
import io.github.lockspring.store.RenewRequest;

/**
 * Renews many leases with few scripts: one, or in a cluster one for each hash slot, since
 * the keys of a script share their slot.
 */
final class BatchRenewal {

	private final ScriptRunner scripts;

	private final RedisKeys keys;

	private final RedisConnections connections;

	BatchRenewal(ScriptRunner scripts, RedisKeys keys, RedisConnections connections) {
		this.scripts = scripts;
		this.keys = keys;
		this.connections = connections;
	}

	List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		if (requests.isEmpty()) {
			return List.of();
		}
		RenewResult[] answers = new RenewResult[requests.size()];
		Arrays.fill(answers, RenewResult.UNKNOWN);
		if (this.connections.topology() == RedisConnections.Topology.CLUSTER) {
			renewInCluster(requests, answers, timeout);
		}
		else {
			renewGroup(requests, IntStream.range(0, requests.size()).boxed().toList(), answers, timeout, true);
		}
		return List.of(answers);
	}

	/*
	 * Those who ask many requests at once ask about one shard, so that there is hardly
	 * ever more than one server here. Where there is, each gets its share of the time.
	 */
	private void renewInCluster(List<RenewRequest> requests, RenewResult[] answers, Duration timeout) {
		Map<String, Map<Integer, List<Integer>>> byShard = new TreeMap<>();
		for (int i = 0; i < requests.size(); i++) {
			String lock = this.keys.lock(requests.get(i).key());
			byShard.computeIfAbsent(this.connections.shard(lock), (shard) -> new TreeMap<>())
				.computeIfAbsent(RedisKeys.slot(lock), (slot) -> new ArrayList<>())
				.add(i);
		}
		long start = System.nanoTime();
		int lanesLeft = byShard.size();
		boolean answered = false;
		LockUnavailableException failure = null;
		for (Map<Integer, List<Integer>> bySlot : byShard.values()) {
			long end = (timeout.toNanos() - (System.nanoTime() - start)) / lanesLeft-- + System.nanoTime();
			try {
				answered |= inTurn(bySlot.values(), end, (group, share) -> renewSlot(requests, group, answers, share));
			}
			catch (LockUnavailableException ex) {
				failure = ex;
			}
		}
		if (!answered && failure != null) {
			throw failure;
		}
	}

	/*
	 * While a slot migrates, a script is refused of which some keys have gone already and
	 * others have not: each of them alone is answered.
	 */
	private void renewSlot(List<RenewRequest> requests, List<Integer> group, RenewResult[] answers, Duration timeout) {
		long start = System.nanoTime();
		try {
			renewGroup(requests, group, answers, timeout, group.size() == 1);
		}
		catch (LockUnavailableException ex) {
			if (group.size() == 1 || !PassingTrouble.isTryAgain(ex)) {
				throw ex;
			}
			boolean anyAsked = inTurn(group.stream().map(List::of).toList(), start + timeout.toNanos(),
					(single, share) -> renewGroup(requests, single, answers, share, true));
			if (!anyAsked) {
				throw ex;
			}
		}
	}

	/**
	 * Asks one group after the other. One that hangs, since its slot is on its way to
	 * another node, leaves time for those after it.
	 * @return whether there was time for any
	 * @throws LockUnavailableException if none was answered
	 */
	private static boolean inTurn(Collection<List<Integer>> groups, long end,
			BiConsumer<List<Integer>, Duration> renew) {
		int groupsLeft = groups.size();
		boolean answered = false;
		LockUnavailableException failure = null;
		for (List<Integer> group : groups) {
			long left = end - System.nanoTime();
			if (left <= 0) {
				break;
			}
			try {
				renew.accept(group, Duration.ofNanos((--groupsLeft > 0) ? left / 2 : left));
				answered = true;
			}
			catch (LockUnavailableException ex) {
				failure = ex;
			}
		}
		if (!answered && failure != null) {
			throw failure;
		}
		return answered;
	}

	private void renewGroup(List<RenewRequest> requests, List<Integer> group, RenewResult[] answers, Duration timeout,
			boolean insist) {
		List<String> locks = new ArrayList<>(group.size());
		List<String> args = new ArrayList<>(2 * group.size());
		for (int i : group) {
			RenewRequest request = requests.get(i);
			locks.add(this.keys.lock(request.key()));
			Collections.addAll(args, request.token().toString(), String.valueOf(request.ttl().toMillis()));
		}
		List<Object> reply;
		RenewResult owner = RenewResult.RENEWED;
		try {
			reply = insist ? this.scripts.run(RedisScripts.RENEW, locks, args.toArray(), timeout)
					: this.scripts.runOnce(RedisScripts.RENEW, locks, args.toArray(), timeout);
		}
		catch (TooFewReplicasException ex) {
			// the master has lengthened the leases, which does not count, but whoever is
			// not the owner even there has lost
			reply = ex.renewed();
			owner = RenewResult.UNKNOWN;
			if (!reply.contains(0L)) {
				throw ex;
			}
		}
		if (reply.size() != group.size()) {
			throw UnavailableTranslator.unexpected(reply);
		}
		for (int i = 0; i < reply.size(); i++) {
			answers[group.get(i)] = "1".equals(String.valueOf(reply.get(i))) ? owner : RenewResult.NOT_OWNER;
		}
	}

}
