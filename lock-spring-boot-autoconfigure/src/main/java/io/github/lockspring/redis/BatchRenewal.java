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
import io.github.lockspring.store.RenewAnswer;
import io.github.lockspring.store.RenewQuestion;

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

	List<RenewAnswer> renew(List<RenewQuestion> questions, Duration timeout) {
		if (questions.isEmpty()) {
			return List.of();
		}
		RenewAnswer[] answers = new RenewAnswer[questions.size()];
		Arrays.fill(answers, RenewAnswer.UNKNOWN);
		if (this.connections.topology() == RedisConnections.Topology.CLUSTER) {
			renewInCluster(questions, answers, timeout);
		}
		else {
			renewGroup(questions, IntStream.range(0, questions.size()).boxed().toList(), answers, timeout, true);
		}
		return List.of(answers);
	}

	/*
	 * Those who ask many questions at once ask about one lane, so that there is hardly
	 * ever more than one server here. Where there is, each gets its share of the time.
	 */
	private void renewInCluster(List<RenewQuestion> questions, RenewAnswer[] answers, Duration timeout) {
		Map<String, Map<Integer, List<Integer>>> byLane = new TreeMap<>();
		for (int i = 0; i < questions.size(); i++) {
			String lock = this.keys.lock(questions.get(i).key());
			byLane.computeIfAbsent(this.connections.lane(lock), (lane) -> new TreeMap<>())
				.computeIfAbsent(RedisKeys.slot(lock), (slot) -> new ArrayList<>())
				.add(i);
		}
		long start = System.nanoTime();
		int lanesLeft = byLane.size();
		boolean answered = false;
		LockUnavailableException failure = null;
		for (Map<Integer, List<Integer>> bySlot : byLane.values()) {
			long end = (timeout.toNanos() - (System.nanoTime() - start)) / lanesLeft-- + System.nanoTime();
			try {
				answered |= inTurn(bySlot.values(), end, (group, share) -> renewSlot(questions, group, answers, share));
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
	private void renewSlot(List<RenewQuestion> questions, List<Integer> group, RenewAnswer[] answers,
			Duration timeout) {
		long start = System.nanoTime();
		try {
			renewGroup(questions, group, answers, timeout, group.size() == 1);
		}
		catch (LockUnavailableException ex) {
			if (group.size() == 1 || !PassingTrouble.isTryAgain(ex)) {
				throw ex;
			}
			boolean anyAsked = inTurn(group.stream().map(List::of).toList(), start + timeout.toNanos(),
					(single, share) -> renewGroup(questions, single, answers, share, true));
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

	private void renewGroup(List<RenewQuestion> questions, List<Integer> group, RenewAnswer[] answers, Duration timeout,
			boolean insist) {
		List<String> locks = new ArrayList<>(group.size());
		List<String> args = new ArrayList<>(2 * group.size());
		for (int i : group) {
			RenewQuestion question = questions.get(i);
			locks.add(this.keys.lock(question.key()));
			Collections.addAll(args, question.token().toString(), String.valueOf(question.ttl().toMillis()));
		}
		List<Object> reply;
		RenewAnswer owner = RenewAnswer.RENEWED;
		try {
			reply = insist ? this.scripts.run(RedisScripts.RENEW, locks, args.toArray(), timeout)
					: this.scripts.runOnce(RedisScripts.RENEW, locks, args.toArray(), timeout);
		}
		catch (TooFewReplicasException ex) {
			// the master has lengthened the leases, which does not count, but whoever is
			// not the owner even there has lost
			reply = ex.renewed();
			owner = RenewAnswer.UNKNOWN;
			if (!reply.contains(0L)) {
				throw ex;
			}
		}
		if (reply.size() != group.size()) {
			throw UnavailableTranslator.unexpected(reply);
		}
		for (int i = 0; i < reply.size(); i++) {
			answers[group.get(i)] = "1".equals(String.valueOf(reply.get(i))) ? owner : RenewAnswer.NOT_OWNER;
		}
	}

}
