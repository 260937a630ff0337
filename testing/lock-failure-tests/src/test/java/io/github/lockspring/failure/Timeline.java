package io.github.lockspring.failure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
	 * A time in which nobody held the lock.
	 *
	 * @param from the end of a hold, or when somebody began to wait for it
	 * @param to the beginning of the next one
	 * @param before who held it before
	 * @param after who held it afterwards
	 * @param late how long the machine kept whoever ended this from running
	 * @param rounds the rounds under way meanwhile
	 */
	record Gap(long from, long to, RecordedHold before, RecordedHold after, long late, List<Round> rounds) {

		long length() {
			return this.to - this.from;
		}

		boolean isWithin(Duration bound) {
			return length() - this.late <= bound.toNanos();
		}

		boolean hasFaultOfWholeInstance() {
			return this.rounds.stream().map(Round::fault).anyMatch(Fault::isOfWholeInstance);
		}

		@Override
		public String toString() {
			return "%.1f ms (%.1f of them late) before %s, after %s, in %s".formatted(length() / 1e6, this.late / 1e6,
					this.after, this.before, this.rounds);
		}

	}

	/**
	 * A wait of somebody to whom nothing was done.
	 *
	 * @param hold what it ended with
	 * @param turns how often the instance that had most turns meanwhile had the lock
	 * @param rounds how many rounds were under way meanwhile
	 * @param late how long the machine kept those who had the lock meanwhile from running
	 */
	record Wait(RecordedHold hold, int turns, int rounds, long late) {

		long length() {
			return this.hold.granted() - this.hold.asked();
		}

		boolean isWithin(Duration bound) {
			return length() - this.late <= bound.toNanos();
		}

		@Override
		public String toString() {
			return "%.1f ms (%.1f of them late), %d turns, %d rounds: %s".formatted(length() / 1e6, this.late / 1e6,
					this.turns, this.rounds, this.hold);
		}

	}

	/** The contest was over before. */
	private static final long NEVER = Long.MAX_VALUE;

	private final List<RecordedHold> holds;

	private final List<Round> rounds;

	private final Map<String, List<Delay>> delays = new HashMap<>();

	/** When whom something was done to had the lock again. */
	private final Map<Round, Long> back = new HashMap<>();

	private final long lookInterval;

	Timeline(String key, RecordedEvents events, List<Round> rounds, Duration lookInterval) {
		this.lookInterval = lookInterval.toNanos();
		this.rounds = rounds;
		events.delays()
			.forEach((delay) -> this.delays.computeIfAbsent(delay.worker(), (k) -> new ArrayList<>()).add(delay));
		this.holds = events.holds()
			.stream()
			.filter((hold) -> hold.key().equals(key))
			.map(this::cutShort)
			.sorted(Comparator.comparingLong(RecordedHold::granted))
			.toList();
		Map<String, List<RecordedHold>> byWorker = new HashMap<>();
		this.holds.forEach((hold) -> byWorker.computeIfAbsent(hold.worker(), (k) -> new ArrayList<>()).add(hold));
		for (Round round : rounds) {
			this.back.put(round,
					byWorker.getOrDefault(round.successor(), List.of())
						.stream()
						.mapToLong(RecordedHold::granted)
						.filter((granted) -> granted >= round.to())
						.min()
						.orElse(NEVER));
		}
	}

	private RecordedHold cutShort(RecordedHold hold) {
		for (Round round : this.rounds) {
			if (round.victim().equals(hold.worker()) && round.fault().compareTo(Fault.STOPPED_AND_KILLED) <= 0
					&& hold.granted() <= round.from() && hold.until() > round.from()) {
				return hold.until(round.from());
			}
		}
		return hold;
	}

	/** How long it took until whom something was done to had the lock again. */
	List<Long> returns() {
		return this.rounds.stream()
			.filter((round) -> this.back.get(round) != NEVER)
			.map((round) -> this.back.get(round) - round.to())
			.toList();
	}

	List<Round> rounds() {
		return this.rounds;
	}

	/** All gaps from the first round to the last one. */
	List<Gap> gaps() {
		long begin = this.rounds.get(0).from();
		long end = this.rounds.get(this.rounds.size() - 1).to();
		List<Gap> gaps = new ArrayList<>();
		RecordedHold last = this.holds.get(0);
		int firstRound = 0;
		for (int i = 1; i < this.holds.size(); i++) {
			RecordedHold next = this.holds.get(i);
			if (next.granted() > last.until() && next.granted() > begin && last.until() < end) {
				long from = Math.max(last.until(), firstToAsk(i));
				if (next.granted() > from) {
					while (firstRound < this.rounds.size() && this.back.get(this.rounds.get(firstRound)) < from) {
						firstRound++;
					}
					gaps.add(new Gap(from, next.granted(), last, next,
							late(Set.of(next.worker(), Arena.TEST), from, next.granted()),
							roundsWithin(firstRound, from, next.granted())));
				}
			}
			last = (next.until() > last.until()) ? next : last;
		}
		return gaps;
	}

	/** When the first of those asked who have the lock from the given hold on. */
	private long firstToAsk(int index) {
		long first = Long.MAX_VALUE;
		for (RecordedHold hold : this.holds.subList(index, Math.min(index + LOOK_AHEAD, this.holds.size()))) {
			first = Math.min(first, hold.asked());
		}
		return first;
	}

	private List<Round> roundsWithin(int firstRound, long from, long to) {
		List<Round> within = new ArrayList<>();
		for (Round round : this.rounds.subList(firstRound, this.rounds.size())) {
			if (round.from() >= to) {
				break;
			}
			if (this.back.get(round) > from) {
				within.add(round);
			}
		}
		return within;
	}

	/**
	 * All waits that ended between the first round and the last one, victims' excepted.
	 */
	List<Wait> waits() {
		long begin = this.rounds.get(0).from();
		long end = this.rounds.get(this.rounds.size() - 1).to();
		List<Wait> waits = new ArrayList<>();
		int firstRound = 0;
		for (int i = 0; i < this.holds.size(); i++) {
			RecordedHold hold = this.holds.get(i);
			if (hold.asked() < begin || hold.granted() > end) {
				continue;
			}
			while (firstRound < this.rounds.size()
					&& this.back.get(this.rounds.get(firstRound)) < hold.granted() - Duration.ofMinutes(1).toNanos()) {
				firstRound++;
			}
			if (this.rounds.subList(firstRound, this.rounds.size())
				.stream()
				.noneMatch((round) -> isVictim(hold, round))) {
				waits.add(wait(i, hold, roundsWithin(firstRound, hold.asked(), hold.granted()).size()));
			}
		}
		return waits;
	}

	/** As long as its inbox had no subscriber, it was passed over. */
	private boolean isVictim(RecordedHold hold, Round round) {
		return (hold.worker().equals(round.victim()) || hold.worker().equals(round.successor()))
				&& round.from() < hold.granted() && round.over() + this.lookInterval > hold.asked();
	}

	private Wait wait(int index, RecordedHold hold, int rounds) {
		Map<String, Integer> turns = new HashMap<>();
		Set<String> workers = new HashSet<>(Set.of(hold.worker(), Arena.TEST));
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
		int most = turns.values().stream().mapToInt(Integer::intValue).max().orElse(0);
		return new Wait(hold, most, rounds, late(workers, hold.asked(), hold.granted()));
	}

	/** For how long at least one of these workers was late within a time. */
	private long late(Set<String> workers, long from, long to) {
		List<Delay> late = new ArrayList<>();
		for (String worker : workers) {
			List<Delay> delays = this.delays.getOrDefault(worker, List.of());
			// those of a worker are in order and do not overlap
			int low = 0;
			int high = delays.size();
			while (low < high) {
				int middle = (low + high) >>> 1;
				if (delays.get(middle).to() <= from) {
					low = middle + 1;
				}
				else {
					high = middle;
				}
			}
			for (int i = low; i < delays.size() && delays.get(i).from() < to; i++) {
				late.add(delays.get(i));
			}
		}
		late.sort(Comparator.comparingLong(Delay::from));
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
