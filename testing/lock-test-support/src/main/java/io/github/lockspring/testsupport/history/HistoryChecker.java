package io.github.lockspring.testsupport.history;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

import io.github.lockspring.testsupport.history.RecordedEvents.Acquisition;
import org.jspecify.annotations.Nullable;

/**
 * Finds violations in a history of holds.
 * <ol>
 * <li>OVERLAP: two holders of a key were both sure to have it at the same time.</li>
 * <li>TOKEN_NOT_GROWING: a hold has no larger token than one that came before it: one
 * whose validity had ended before this one was granted, or one that had been granted
 * before this one was even asked for.</li>
 * <li>TOKEN_USED_TWICE, TOKEN_OUT_OF_RANGE.</li>
 * </ol>
 * When the server loses its data, another owner inevitably gets the lock while the former
 * one still believes that it holds the lock. Only this is excused: the former hold must
 * have been acquired before the end of the loss and must end within one lease of it,
 * since no renewal can succeed afterwards; the other hold must have been granted after
 * the beginning of the loss. There is no such excuse for tokens: an owner that asks after
 * the loss has a larger token than one that acquired the lock before it.
 *
 * @since 0.1
 */
public final class HistoryChecker {

	/*
	 * Inside an instance a lock is passed on with the next number, so that the
	 * acquisition a hold comes from is the one with the largest token that is not larger
	 * than its own. A hold that was passed on is as old as the acquisition, which matters
	 * for a loss of data.
	 */
	private static final int MOST_PASSES = 1000;

	/** An acquisition so shortly before a loss may use up numbers of the time after. */
	private static final long TOKENS_AHEAD = 1_000_000;

	/** The kinds of violations. */
	public enum Kind {

		OVERLAP, TOKEN_NOT_GROWING, TOKEN_USED_TWICE, TOKEN_OUT_OF_RANGE

	}

	/**
	 * A counter-example.
	 *
	 * @param kind what is wrong
	 * @param first a hold
	 * @param second the hold that should not be as it is, given the first one
	 */
	public record Violation(Kind kind, RecordedHold first, RecordedHold second) {

		/** Returns when the first of the two was granted. */
		public long from() {
			return Math.min(this.first.granted(), this.second.granted());
		}

		/** Returns when the last of the two ended. */
		public long to() {
			return Math.max(Math.max(this.first.granted(), this.first.until()),
					Math.max(this.second.granted(), this.second.until()));
		}

		private long length() {
			return to() - from();
		}

	}

	/**
	 * A loss of all data at some moment between two times.
	 *
	 * @param from before it happened
	 * @param to after it had happened
	 */
	public record DataLoss(long from, long to) {

		/** Returns the loss that something causes. */
		public static DataLoss during(Runnable what) {
			long from = System.nanoTime();
			what.run();
			return new DataLoss(from, System.nanoTime());
		}

	}

	/**
	 * A hold and the acquisition that it comes from.
	 *
	 * @param hold the hold
	 * @param asked before the store was asked for the acquisition
	 * @param acquired after it had answered
	 * @param lease the longest lease
	 */
	private record OwnedHold(RecordedHold hold, long asked, long acquired, long lease) {

		boolean mayBeOlderThan(DataLoss loss) {
			return this.asked < loss.to() && this.hold.granted() <= loss.to() + this.lease
					&& this.hold.until() <= loss.to() + this.lease;
		}

		boolean isOlderThan(DataLoss loss) {
			return this.acquired + TOKENS_AHEAD < loss.from();
		}

		boolean mayBeYoungerThan(DataLoss loss) {
			return this.hold.granted() > loss.from();
		}

		boolean isYoungerThan(DataLoss loss) {
			return this.asked > loss.to();
		}

	}

	private final Collection<DataLoss> losses;

	private final Set<Violation> violations = new LinkedHashSet<>();

	/** By worker and key, then by token. */
	private final Map<List<String>, TreeMap<Long, Acquisition>> acquisitions = new HashMap<>();

	private HistoryChecker(Collection<Acquisition> acquisitions, Collection<DataLoss> losses) {
		this.losses = losses;
		for (Acquisition acquisition : acquisitions) {
			this.acquisitions
				.computeIfAbsent(List.of(acquisition.worker(), acquisition.key()), (key) -> new TreeMap<>())
				// a grant may be told twice
				.putIfAbsent(acquisition.token(), acquisition);
		}
	}

	/**
	 * Checks a history.
	 * @param holds all holds, in any order
	 * @param acquisitions the acquisitions that they come from; one without is its own
	 * @param losses when data was lost
	 * @return what is wrong, the shortest counter-example first; of those that share a
	 * hold not necessarily each
	 */
	public static List<Violation> check(Collection<RecordedHold> holds, Collection<Acquisition> acquisitions,
			Collection<DataLoss> losses) {
		HistoryChecker checker = new HistoryChecker(acquisitions, losses);
		Map<String, List<RecordedHold>> byKey = new HashMap<>();
		holds.forEach((hold) -> byKey.computeIfAbsent(hold.key(), (key) -> new ArrayList<>()).add(hold));
		byKey.values().forEach(checker::checkKey);
		return checker.violations.stream().sorted(Comparator.comparingLong(Violation::length)).toList();
	}

	private void checkKey(List<RecordedHold> holds) {
		List<OwnedHold> all = holds.stream().map(this::owned).toList();
		checkNumbers(all);
		List<OwnedHold> valid = all.stream().filter((owned) -> owned.hold.wasValid()).toList();
		checkOverlaps(valid);
		checkGrowth(valid, (owned) -> owned.hold.until(), (owned) -> owned.hold.granted());
		checkGrowth(all, (owned) -> owned.hold.granted(), (owned) -> owned.hold.asked());
	}

	private OwnedHold owned(RecordedHold hold) {
		Map.Entry<Long, Acquisition> floor = this.acquisitions
			.getOrDefault(List.of(hold.worker(), hold.key()), new TreeMap<>())
			.floorEntry(hold.token());
		if (floor == null || hold.token() - floor.getKey() > MOST_PASSES) {
			return new OwnedHold(hold, hold.asked(), hold.granted(), hold.lease());
		}
		Acquisition from = floor.getValue();
		return new OwnedHold(hold, from.asked(), from.acquired(), Math.max(hold.lease(), from.lease()));
	}

	private void checkNumbers(List<OwnedHold> all) {
		Map<Long, RecordedHold> byToken = new HashMap<>();
		for (OwnedHold owned : all) {
			RecordedHold hold = owned.hold;
			if (hold.token() <= 0 || hold.token() >= 1L << 53) {
				this.violations.add(new Violation(Kind.TOKEN_OUT_OF_RANGE, hold, hold));
			}
			RecordedHold other = byToken.putIfAbsent(hold.token(), hold);
			if (other != null) {
				this.violations.add(new Violation(Kind.TOKEN_USED_TWICE, other, hold));
			}
		}
	}

	private void checkOverlaps(List<OwnedHold> valid) {
		List<OwnedHold> active = new ArrayList<>();
		for (OwnedHold next : sorted(valid, (owned) -> owned.hold.granted())) {
			active.removeIf((earlier) -> earlier.hold.until() <= next.hold.granted());
			for (OwnedHold earlier : active) {
				if (earlier.hold.overlaps(next.hold) && !explained(earlier, next)) {
					this.violations.add(new Violation(Kind.OVERLAP, earlier.hold, next.hold));
				}
			}
			active.add(next);
		}
	}

	private boolean explained(OwnedHold one, OwnedHold other) {
		return explainedBy(one, other) || explainedBy(other, one);
	}

	/** Whether the one did not know of a loss after which the other one began. */
	private boolean explainedBy(OwnedHold stale, OwnedHold fresh) {
		for (DataLoss loss : this.losses) {
			if (stale.mayBeOlderThan(loss) && fresh.mayBeYoungerThan(loss)) {
				boolean certain = stale.isOlderThan(loss) && fresh.isYoungerThan(loss);
				if (certain && stale.hold.token() >= fresh.hold.token()) {
					this.violations.add(new Violation(Kind.TOKEN_NOT_GROWING, stale.hold, fresh.hold));
				}
				return true;
			}
		}
		return false;
	}

	/**
	 * Each hold must have a larger token than every one that was earlier.
	 * @param all the holds
	 * @param end the end of a hold
	 * @param begin the beginning of a later one
	 */
	private void checkGrowth(List<OwnedHold> all, ToLongFunction<OwnedHold> end, ToLongFunction<OwnedHold> begin) {
		List<OwnedHold> byEnd = sorted(all, end);
		OwnedHold largest = null;
		int next = 0;
		for (OwnedHold later : sorted(all, begin)) {
			while (next < byEnd.size() && end.applyAsLong(byEnd.get(next)) < begin.applyAsLong(later)) {
				OwnedHold earlier = byEnd.get(next++);
				largest = (largest == null || earlier.hold.token() > largest.hold.token()) ? earlier : largest;
			}
			if (largest != null && largest.hold.token() >= later.hold.token()) {
				OwnedHold earlier = shortest(byEnd.subList(0, next), later);
				if (earlier != null) {
					this.violations.add(new Violation(Kind.TOKEN_NOT_GROWING, earlier.hold, later.hold));
				}
			}
		}
	}

	/** The last of the earlier ones that has too large a token without an excuse. */
	private @Nullable OwnedHold shortest(List<OwnedHold> earlier, OwnedHold later) {
		for (int i = earlier.size() - 1; i >= 0; i--) {
			OwnedHold other = earlier.get(i);
			if (other.hold != later.hold && other.hold.token() >= later.hold.token()
					&& !passedOnUnaware(later, other)) {
				return other;
			}
		}
		return null;
	}

	/**
	 * Whether the later hold was passed on by one who did not know of a loss of data:
	 * then it belongs before the other one, which came after the loss.
	 */
	private boolean passedOnUnaware(OwnedHold later, OwnedHold other) {
		if (other.hold.granted() < later.asked) {
			return false;
		}
		return this.losses.stream().anyMatch((loss) -> later.mayBeOlderThan(loss) && other.mayBeYoungerThan(loss));
	}

	private static List<OwnedHold> sorted(List<OwnedHold> all, ToLongFunction<OwnedHold> by) {
		List<OwnedHold> sorted = new ArrayList<>(all);
		sorted.sort(Comparator.comparingLong(by));
		return sorted;
	}

}
