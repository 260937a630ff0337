package io.github.lockspring.failure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.github.lockspring.failure.Arena.Fault;
import io.github.lockspring.failure.Arena.Round;
import io.github.lockspring.testsupport.history.RecordedEvents.Delay;
import io.github.lockspring.testsupport.history.RecordedEvents;
import io.github.lockspring.testsupport.history.RecordedHold;

/**
 * What the contenders of an arena wrote down about one lock, seen as a sequence of holds:
 * when nobody had the lock although somebody waited for it, and who waited for how long.
 */
final class Timeline {

	/*
	 * A contender that was killed or stopped has the lock no more from then on, whatever
	 * it wrote before. One that was cut off goes on with its work, and has the lock until
	 * that ends. Gaps are not cut off by a lease: until it is over the lock lies idle.
	 */

	private static final int LOOK_AHEAD = 400;

	/**
	 * What may take how long.
	 *
	 * @param look the longest time for which the lock is idle
	 * @param grant the same, when an instance is gone
	 * @param unanswered the same, when an instance is back that may wait for the answer
	 * to a release which was lost with its connection
	 * @param sections those of all who were there before somebody who waits
	 * @param interval the time between two looks of a waiter
	 */
	record Bounds(Duration look, Duration grant, Duration unanswered, Duration sections, Duration interval) {
	}

	private final List<RecordedHold> holds;

	private final List<Round> rounds;

	private final Bounds bounds;

	/** By worker, and by their ends: those of a worker are in order. */
	private final Map<String, TreeMap<Long, Delay>> delays = new HashMap<>();

	/** When whom something was done to had the lock again, if it had. */
	private final Map<Round, Long> back = new HashMap<>();

	Timeline(String key, RecordedEvents events, List<Round> rounds, Bounds bounds) {
		this.bounds = bounds;
		this.rounds = rounds;
		events.delays()
			.forEach((delay) -> this.delays.computeIfAbsent(delay.worker(), (worker) -> new TreeMap<>())
				.put(delay.to(), delay));
		this.holds = events.holds()
			.stream()
			.filter((hold) -> hold.key().equals(key))
			.map(this::cutShort)
			.sorted(Comparator.comparingLong(RecordedHold::granted))
			.toList();
		for (Round round : rounds) {
			this.holds.stream()
				.filter((hold) -> hold.worker().equals(round.successor()) && hold.granted() >= round.to())
				.findFirst()
				.ifPresent((hold) -> this.back.put(round, hold.granted()));
		}
	}

	private RecordedHold cutShort(RecordedHold hold) {
		for (Round round : this.rounds) {
			if (round.victim().equals(hold.worker()) && round.fault().stopsTheProcess()
					&& hold.granted() <= round.from() && hold.until() > round.from()) {
				return hold.until(round.from());
			}
		}
		return hold;
	}

	private long begin() {
		return this.rounds.get(0).from();
	}

	private long end() {
		return this.rounds.get(this.rounds.size() - 1).to();
	}

	/**
	 * The times from the first round to the last one, longer than their bound, for which
	 * nobody held the lock although somebody waited for it. Not counted is how long the
	 * machine kept whoever ended this from running.
	 */
	List<String> gaps() {
		List<String> broken = new ArrayList<>();
		RecordedHold last = this.holds.get(0);
		for (int i = 1; i < this.holds.size(); i++) {
			RecordedHold next = this.holds.get(i);
			long to = next.granted();
			if (to > begin() && last.until() < end() && to - last.until() > this.bounds.look().toNanos()) {
				long from = Math.max(last.until(), firstToAsk(i));
				List<Round> during = roundsDuring(from, to);
				long late = late(Set.of(next.worker(), Arena.TEST), from, to);
				if (to - from - late > longestGap(during, from, to).toNanos()) {
					broken.add("idle for %.1f ms (%.1f of them late) between %s and %s, in %s"
						.formatted((to - from) / 1e6, late / 1e6, last, next, during));
				}
			}
			last = (next.until() > last.until()) ? next : last;
		}
		return broken;
	}

	/**
	 * An instance that has the lock again may have got it by a hand-off inside, which
	 * needs no server. It is surely back when the server has granted it each lock.
	 */
	private Duration longestGap(List<Round> during, long from, long to) {
		if (during.stream().map(Round::fault).anyMatch(Fault::isOfWholeInstance)) {
			return this.bounds.grant();
		}
		boolean unanswered = this.rounds.stream()
			.filter((round) -> round.fault().isOfWholeInstance())
			.anyMatch((round) -> round.from() < to && round.over() > from);
		return unanswered ? this.bounds.unanswered() : this.bounds.look();
	}

	/** When the first of those asked who have the lock from the given hold on. */
	private long firstToAsk(int index) {
		return this.holds.subList(index, Math.min(index + LOOK_AHEAD, this.holds.size()))
			.stream()
			.mapToLong(RecordedHold::asked)
			.min()
			.orElseThrow();
	}

	private List<Round> roundsDuring(long from, long to) {
		return this.rounds.stream()
			.filter((round) -> round.from() < to && this.back.getOrDefault(round, Long.MAX_VALUE) > from)
			.toList();
	}

	/**
	 * The waits of those to whom nothing was done, which ended between the first round
	 * and the last one and were too long, or in which another instance had too many
	 * turns. Not counted is how long the machine kept those who had the lock meanwhile
	 * from running.
	 */
	List<String> waits() {
		List<String> broken = new ArrayList<>();
		for (int i = 0; i < this.holds.size(); i++) {
			RecordedHold hold = this.holds.get(i);
			if (hold.asked() < begin() || hold.granted() > end()) {
				continue;
			}
			Set<String> workers = new HashSet<>(Set.of(hold.worker(), Arena.TEST));
			int turns = turns(i, workers);
			long length = hold.granted() - hold.asked();
			if ((turns > mostTurns(0) || length > longest(0))
					&& this.rounds.stream().noneMatch((round) -> isVictim(hold, round))) {
				int during = roundsDuring(hold.asked(), hold.granted()).size();
				long late = late(workers, hold.asked(), hold.granted());
				if (turns > mostTurns(during) || length - late > longest(during)) {
					broken.add("wait of %.1f ms (%.1f of them late), %d turns, %d rounds: %s".formatted(length / 1e6,
							late / 1e6, turns, during, hold));
				}
			}
		}
		return broken;
	}

	private static int mostTurns(int rounds) {
		return Contender.THREADS_FOR_EACH_KEY + 1 + rounds;
	}

	private long longest(int rounds) {
		return this.bounds.sections().plus(this.bounds.grant().multipliedBy(Math.max(1, rounds))).toNanos();
	}

	/** As long as its inbox had no subscriber, it was passed over. */
	private boolean isVictim(RecordedHold hold, Round round) {
		return (hold.worker().equals(round.victim()) || hold.worker().equals(round.successor()))
				&& round.from() < hold.granted() && round.over() + this.bounds.interval().toNanos() > hold.asked();
	}

	/**
	 * How often the instance that had most turns had the lock while another one waited.
	 * @param index the hold with which the wait ended
	 * @param workers where to put all who had it
	 */
	private int turns(int index, Set<String> workers) {
		RecordedHold hold = this.holds.get(index);
		Map<String, Integer> turns = new HashMap<>();
		String last = hold.worker();
		for (int i = index - 1; i >= 0 && this.holds.get(i).granted() >= hold.asked(); i--) {
			String worker = this.holds.get(i).worker();
			workers.add(worker);
			if (!worker.equals(last)) {
				turns.merge(worker, 1, Integer::sum);
			}
			last = worker;
		}
		turns.remove(hold.worker());
		return turns.values().stream().mapToInt(Integer::intValue).max().orElse(0);
	}

	/** For how long at least one of these workers was late within a time. */
	private long late(Set<String> workers, long from, long to) {
		List<Delay> late = workers.stream()
			.flatMap((worker) -> this.delays.getOrDefault(worker, new TreeMap<>())
				.tailMap(from)
				.values()
				.stream()
				.takeWhile((delay) -> delay.from() < to))
			.sorted(Comparator.comparingLong(Delay::from))
			.toList();
		long sum = 0;
		long covered = from;
		for (Delay delay : late) {
			long begin = Math.max(covered, delay.from());
			long end = Math.min(to, delay.to());
			if (end > begin) {
				sum += end - begin;
				covered = end;
			}
		}
		return sum;
	}

}
