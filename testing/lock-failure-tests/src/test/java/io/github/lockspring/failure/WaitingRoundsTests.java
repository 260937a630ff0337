package io.github.lockspring.failure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

import io.github.lockspring.failure.Arena.Fault;
import io.github.lockspring.failure.Arena.Round;
import io.github.lockspring.failure.Contender.Contest;
import io.github.lockspring.failure.Timeline.Gap;
import io.github.lockspring.failure.Timeline.Wait;
import io.github.lockspring.testsupport.history.HistoryChecker;
import io.github.lockspring.testsupport.history.RecordedEvents;
import io.github.lockspring.testsupport.process.RunDirectory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rounds in which something happens to one of several instances that all contend for one
 * lock without a pause. Few by default; a thousand of each kind with
 * {@code mvn -Prounds -pl :lock-failure-tests -am test}.
 * <p>
 * The bounds are those of the protocol's timers, with {@code g} for the lease that a
 * hand-over gives and {@code S} for the time between two looks of a waiter. The lease is
 * chosen so short that {@code g} is the whole of it; a look's answer takes a round trip.
 * <ul>
 * <li>A message that is lost, and a lock that somebody gave back without a word: each
 * waiter looks again within S, so the lock is idle for S and a round trip. With faults of
 * messages only, and between rounds, it is never idle for longer.</li>
 * <li>An instance that died, stands still or is cut off: its inbox has no subscriber, and
 * it is passed over; or the server does not know yet, or cannot, and it is granted the
 * lock: that ends after g. Or it had the lock already: that ends after the ttl, which is
 * g here. Its place in the queue is used up by that, so it happens once. Waiters then
 * find the lock within S: idle for g + S and a round trip. A release that was on its way
 * when the connection broke is no worse.</li>
 * <li>Somebody who waits meanwhile waits for that, and for the sections of those who were
 * there before.</li>
 * </ul>
 */
@Timeout(value = 3, unit = TimeUnit.HOURS)
class WaitingRoundsTests {

	/** How many waiters of each kind something happens to; 0: a few. */
	private static final int ROUNDS = Integer.getInteger("lockspring.rounds", 0);

	private static final long SEED = Long.getLong("lockspring.rounds.seed", System.nanoTime());

	/** A command and its answer, with the time until somebody who slept runs. */
	private static final Duration ROUND_TRIP = Duration.ofMillis(15);

	/**
	 * What the build allows beside the lateness that is measured, which is not that of
	 * each thread: the machine may be busy, and a waiter that was forgotten waits for
	 * minutes.
	 */
	private static final Duration ALLOWANCE = (ROUNDS > 0) ? Duration.ZERO : Duration.ofSeconds(2);

	/** Short, since it ends often; in the build not too short for a busy machine. */
	private static final Duration TTL = Duration.ofMillis((ROUNDS > 0) ? 400 : 1500);

	private static final Path DIRECTORY = RunDirectory.of("rounds");

	/**
	 * A process takes a second or two to start, so that each waits for several locks: a
	 * kill is one of a waiter for each of them.
	 */
	private static final Contest PROCESSES = new Contest(5, TTL, Duration.ofMillis(15), 2);

	private static final Contest INSTANCES = new Contest(1, TTL, Duration.ofMillis(5), 1);

	/** So long that nobody looks again who only waits for those before. */
	private static final Contest MANY = new Contest(1, Duration.ofSeconds(4), Duration.ofMillis(2), 1);

	/** How often few rounds are played if the machine was too busy for the bounds. */
	private static final int ATTEMPTS = (ROUNDS > 0) ? 1 : 3;

	@Test
	void f23KilledOrStoppedWaiterCostsTheOthersNoMoreThanItsGrant() throws Exception {
		play(() -> Arena.ofProcesses(3, PROCESSES, DIRECTORY.resolve("processes"), SEED), (arena) -> {
			arena.keepSpares();
			rounds(arena, 5, Fault.KILLED);
			rounds(arena, 10, Fault.STOPPED, Fault.STOPPED_AND_KILLED);
		});
	}

	@Test
	void f24CutOffWaiterCostsTheOthersNoMoreThanItsGrantAndALostMessageOnlyARetry() throws Exception {
		play(() -> Arena.ofInstances(5, INSTANCES, DIRECTORY.resolve("instances"), SEED),
				(arena) -> rounds(arena, 8, Fault.CUT, Fault.SILENCED, Fault.INBOX_CUT, Fault.MESSAGES_LOST));
	}

	@Test
	void f21HandOverCostsTheSameWithFiftyInstancesAsWithFive() throws Exception {
		for (int count : List.of(5, 50)) {
			List<Round> rounds = play(
					() -> Arena.ofInstances(count, MANY, DIRECTORY.resolve("instances-" + count), SEED),
					(arena) -> rounds(arena, 6, Fault.INBOX_CUT, Fault.CUT, Fault.INBOX_CUT, Fault.CUT, Fault.INBOX_CUT,
							Fault.MESSAGES_LOST));
			// the release and the first look of whoever waits next; the message that
			// gives the lock, and the word of the first in the queue
			assertThat(medianForAGrant(rounds, Round::scripts)).isGreaterThan(1.5);
			assertThat(medianForAGrant(rounds, Round::messages)).isGreaterThan(0.9);
			// on a busy machine a turn comes late, and all who wait look again meanwhile
			double looks = count / (double) MANY.lookInterval().toNanos();
			assertThat(medianForAGrant(rounds, (round) -> round.scripts() - looks * round.length())).isLessThan(2.5);
			assertThat(medianForAGrant(rounds, (round) -> round.messages() - looks * round.length())).isLessThan(2.5);
		}
	}

	private static List<Round> play(Callable<Arena> making, Script script) throws Exception {
		for (int attempt = 1;; attempt++) {
			try (Arena arena = making.call()) {
				arena.awaitProgressOfAll();
				script.play(arena);
				RecordedEvents events = arena.events();
				assertThat(HistoryChecker.check(events.holds(), events.acquisitions(), List.of())).isEmpty();
				assertThat(events.faults()).isEmpty();
				String broken = brokenBounds(arena, events);
				if (broken.isEmpty()) {
					return arena.rounds;
				}
				assertThat(attempt).withFailMessage(broken).isLessThan(ATTEMPTS);
				System.out.println("Once more: " + broken);
			}
		}
	}

	private static void rounds(Arena arena, int few, Fault... faults) throws Exception {
		int rounds = (ROUNDS > 0) ? ROUNDS : few;
		for (int i = 0; i * arena.contest.locks() < rounds; i++) {
			arena.round(faults[i % faults.length]);
		}
	}

	private static String brokenBounds(Arena arena, RecordedEvents events) {
		Contest contest = arena.contest;
		Duration lookBound = contest.lookInterval().plus(ROUND_TRIP).plus(ALLOWANCE);
		Duration grantBound = contest.grant().plus(lookBound);
		// of all others once, and of this instance's other threads
		Duration sections = contest.longestSection()
			.plus(ROUND_TRIP)
			.multipliedBy((long) arena.size() * contest.threads() + 1);
		Figures figures = new Figures();
		List<String> broken = new ArrayList<>();
		for (String key : contest.keys()) {
			Timeline timeline = new Timeline(key, events, arena.rounds, contest.lookInterval());
			figures.add(timeline);
			timeline.gaps()
				.stream()
				.filter((gap) -> !gap.isWithin(gap.hasFaultOfWholeInstance() ? grantBound : lookBound))
				.forEach((gap) -> broken.add("idle " + gap));
			timeline.waits()
				.stream()
				.filter((wait) -> !wait.isWithin(sections.plus(grantBound.multipliedBy(Math.max(1, wait.rounds()))))
						|| wait.turns() > contest.threads() + 1 + wait.rounds())
				.forEach((wait) -> broken.add("wait " + wait));
		}
		System.out
			.println("Rounds with seed " + SEED + ", " + arena.size() + " instances, " + contest + ": idle at most "
					+ lookBound.toMillis() + " ms, with an instance that is gone " + grantBound.toMillis() + " ms\n"
					+ figures + "  scripts for a hand-over " + medianForAGrant(arena.rounds, Round::scripts)
					+ ", messages " + medianForAGrant(arena.rounds, Round::messages) + "; " + events.counts());
		return String.join("\n", broken);
	}

	private static double medianForAGrant(List<Round> rounds, ToDoubleFunction<Round> count) {
		return rounds.stream()
			.mapToDouble((round) -> count.applyAsDouble(round) / round.grants())
			.sorted()
			.skip(rounds.size() / 2)
			.findFirst()
			.orElseThrow();
	}

	private interface Script {

		void play(Arena arena) throws Exception;

	}

	/**
	 * What was measured, for people.
	 */
	private static final class Figures {

		private final Map<Fault, List<Long>> idle = new EnumMap<>(Fault.class);

		private final List<Long> between = new ArrayList<>();

		private final List<Long> waits = new ArrayList<>();

		private final List<Long> returns = new ArrayList<>();

		private final List<Gap> longestGaps = new ArrayList<>();

		private final List<Wait> longestWaits = new ArrayList<>();

		private int mostTurns;

		void add(Timeline timeline) {
			Map<Round, Long> worst = new IdentityHashMap<>();
			timeline.rounds().forEach((round) -> worst.put(round, 0L));
			for (Gap gap : timeline.gaps()) {
				gap.rounds().forEach((round) -> worst.merge(round, gap.length(), Math::max));
				if (gap.rounds().isEmpty()) {
					this.between.add(gap.length());
				}
				this.longestGaps.add(gap);
			}
			worst.forEach(
					(round, length) -> this.idle.computeIfAbsent(round.fault(), (k) -> new ArrayList<>()).add(length));
			for (Wait wait : timeline.waits()) {
				this.waits.add(wait.length());
				this.longestWaits.add(wait);
				this.mostTurns = Math.max(this.mostTurns, wait.turns());
			}
			this.returns.addAll(timeline.returns());
			this.longestGaps.sort(Comparator.comparingLong(Gap::length).reversed());
			this.longestWaits.sort(Comparator.comparingLong(Wait::length).reversed());
			keep(this.longestGaps);
			keep(this.longestWaits);
		}

		private static void keep(List<?> list) {
			if (list.size() > 3) {
				list.subList(3, list.size()).clear();
			}
		}

		@Override
		public String toString() {
			StringBuilder text = new StringBuilder();
			this.idle.forEach((fault, nanos) -> line(text, "longest idle of a round, " + fault, nanos));
			line(text, "idle between rounds", this.between);
			line(text, "waits of the others", this.waits);
			line(text, "victim or successor back after", this.returns);
			text.append("  most turns of another instance within a wait: ").append(this.mostTurns).append('\n');
			this.longestGaps.forEach((gap) -> text.append("  idle ").append(gap).append('\n'));
			this.longestWaits.forEach((wait) -> text.append("  wait ").append(wait).append('\n'));
			return text.toString();
		}

		private static void line(StringBuilder text, String what, List<Long> nanos) {
			long[] sorted = nanos.stream().mapToLong(Long::longValue).sorted().toArray();
			if (sorted.length > 0) {
				text.append("  %s: %d, median %.1f, p99 %.1f, longest %.1f ms%n".formatted(what, sorted.length,
						sorted[sorted.length / 2] / 1e6, sorted[sorted.length * 99 / 100] / 1e6,
						sorted[sorted.length - 1] / 1e6));
			}
		}

	}

}
