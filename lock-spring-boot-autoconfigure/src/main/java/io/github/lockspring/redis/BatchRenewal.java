package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.RenewAnswer;
import io.github.lockspring.store.RenewQuestion;
import org.jspecify.annotations.Nullable;

/**
 * Renews many leases with few scripts: one, or in a cluster one for each hash slot, side
 * by side, so that a slot whose server does not answer costs the others little.
 */
final class BatchRenewal implements AutoCloseable {

	private static final int THREADS = 16;

	private final RedisCommands commands;

	private final RedisKeys keys;

	private final boolean cluster;

	private final ThreadPoolExecutor threads = DaemonThreads.onDemand("lock-redis-renew", THREADS);

	BatchRenewal(RedisCommands commands, RedisKeys keys, RedisConnections.Topology topology) {
		this.commands = commands;
		this.keys = keys;
		this.cluster = topology == RedisConnections.Topology.CLUSTER;
	}

	List<RenewAnswer> renew(List<RenewQuestion> questions, Duration timeout) {
		if (questions.isEmpty()) {
			return List.of();
		}
		Collection<List<Integer>> groups = groups(questions);
		RenewAnswer[] answers = new RenewAnswer[questions.size()];
		Arrays.fill(answers, RenewAnswer.UNKNOWN);
		if (groups.size() == 1) {
			renewGroup(questions, groups.iterator().next(), answers, timeout);
			return List.of(answers);
		}
		renewSideBySide(questions, groups, answers, timeout);
		return List.of(answers);
	}

	private Collection<List<Integer>> groups(List<RenewQuestion> questions) {
		Map<Integer, List<Integer>> bySlot = new TreeMap<>();
		for (int i = 0; i < questions.size(); i++) {
			int slot = this.cluster ? RedisKeys.slot(this.keys.lock(questions.get(i).key())) : 0;
			bySlot.computeIfAbsent(slot, (s) -> new ArrayList<>()).add(i);
		}
		return bySlot.values();
	}

	private void renewSideBySide(List<RenewQuestion> questions, Collection<List<Integer>> groups, RenewAnswer[] answers,
			Duration timeout) {
		long start = System.nanoTime();
		List<Future<?>> running = new ArrayList<>();
		RenewAnswer[] arriving = answers.clone();
		for (List<Integer> group : groups) {
			running.add(this.threads.submit(() -> renewGroup(questions, group, arriving, timeout)));
		}
		int index = 0;
		int failed = 0;
		@Nullable LockUnavailableException failure = null;
		for (List<Integer> group : groups) {
			Future<?> future = running.get(index++);
			try {
				future.get(timeout.toNanos() - (System.nanoTime() - start), TimeUnit.NANOSECONDS);
				// the array is read only after its writer has ended
				group.forEach((i) -> answers[i] = arriving[i]);
				continue;
			}
			catch (ExecutionException ex) {
				failure = (ex.getCause() instanceof LockUnavailableException unavailable) ? unavailable
						: new LockUnavailableException(String.valueOf(ex.getCause()), ex.getCause());
			}
			catch (TimeoutException ex) {
				failure = new LockUnavailableException(
						"Redis did not answer within " + UnavailableTranslator.format(timeout), ex);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				failure = new LockUnavailableException("interrupted while waiting for Redis", ex);
			}
			future.cancel(false);
			failed++;
		}
		if (failure != null && failed == groups.size()) {
			throw failure;
		}
	}

	private void renewGroup(List<RenewQuestion> questions, List<Integer> group, RenewAnswer[] answers,
			Duration timeout) {
		List<String> locks = new ArrayList<>(group.size());
		List<String> args = new ArrayList<>(2 * group.size());
		for (int i : group) {
			RenewQuestion question = questions.get(i);
			locks.add(this.keys.lock(question.key()));
			Collections.addAll(args, question.token().toString(), String.valueOf(question.ttl().toMillis()));
		}
		List<Object> reply = this.commands.run(RedisScripts.RENEW, locks, args.toArray(), timeout);
		if (reply.size() != group.size()) {
			throw UnavailableTranslator.unexpected(reply);
		}
		for (int i = 0; i < reply.size(); i++) {
			answers[group.get(i)] = "1".equals(String.valueOf(reply.get(i))) ? RenewAnswer.RENEWED
					: RenewAnswer.NOT_OWNER;
		}
	}

	@Override
	public void close() {
		this.threads.shutdownNow();
	}

}
