package io.github.lockspring.lab.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.lockspring.lab.history.Holds.Span;
import org.jspecify.annotations.Nullable;

/**
 * What a history shows, whatever the recipe and the fault were. Computed from the events
 * alone:
 * <ul>
 * <li><b>Sold twice</b>: two shops have written a sale of the same seat.</li>
 * <li><b>Two holders</b>: two processes act inside of the section at overlapping times. A
 * process acts from the moment at which it was told that it has the lock to the begin of
 * its release, but not while it is stopped, nor after it was killed, was told that the
 * lock is lost, or was refused. A holder that knows the end of its lease by its own clock
 * ({@code watched}) does not act under the lock after that end: if it writes
 * nevertheless, that may be a double sale, but no second valid holder.</li>
 * <li><b>Stuck</b>: no process has acted, sold or been refused for longer than a lease
 * and one second, although shops were there to buy. <b>Unavailable</b>: the same, where
 * they got errors.</li>
 * <li><b>Refused</b>: a write was refused.</li>
 * </ul>
 * The gravest one counts, in the order sold twice, two holders, stuck, unavailable,
 * refused; without any, the run is safe.
 *
 * @param code the outcome
 * @param overlaps when two shops were inside
 * @param doubleSales the sales of each seat that was sold more than once
 * @param stuckMillis the longest time without progress
 * @param stuckFrom when that began
 */
public record Findings(Code code, List<Overlap> overlaps, List<List<LabEvent>> doubleSales, double stuckMillis,
		double stuckFrom) {

	private static final double PATIENCE_MILLIS = 1_000;

	/**
	 * A time in which two shops were inside.
	 *
	 * @param from its begin
	 * @param to its end
	 * @param holders the shops
	 * @param events the numbers of the events with which their holds began
	 */
	public record Overlap(double from, double to, List<String> holders, List<Integer> events) {
	}

	/**
	 * Reads a history.
	 * @param events the events, in the order in which they were recorded
	 * @param end the end of the sale, in milliseconds since the run began
	 * @param leaseMillis the lease of the lock
	 * @return what it shows
	 */
	public static Findings of(List<LabEvent> events, double end, long leaseMillis) {
		List<LabEvent> sorted = events.stream().sorted(Comparator.comparingDouble(LabEvent::at)).toList();
		List<Span> acting = new Holds(sorted, end).acting();
		List<Overlap> overlaps = overlaps(acting);
		List<List<LabEvent>> doubleSales = doubleSales(sorted);
		Span gap = longestGap(sorted, acting, end);
		double stuck = (gap != null) ? gap.to() - gap.from() : 0;
		Code code = Code.SAFE;
		if (!doubleSales.isEmpty()) {
			code = Code.SOLD_TWICE;
		}
		else if (!overlaps.isEmpty()) {
			code = Code.TWO_HOLDERS;
		}
		else if (gap != null && stuck > leaseMillis + PATIENCE_MILLIS) {
			code = failing(sorted, gap) ? Code.UNAVAILABLE : Code.STUCK;
		}
		else if (sorted.stream().anyMatch((event) -> event.is("refused"))) {
			code = Code.REFUSED;
		}
		return new Findings(code, overlaps, doubleSales, stuck, (gap != null) ? gap.from() : 0);
	}

	private static List<Overlap> overlaps(List<Span> acting) {
		List<Overlap> overlaps = new ArrayList<>();
		for (int i = 0; i < acting.size(); i++) {
			Span one = acting.get(i);
			for (Span other : acting.subList(i + 1, acting.size())) {
				double from = Math.max(one.from(), other.from());
				double to = Math.min(one.to(), other.to());
				if (from < to && !one.lane().equals(other.lane())) {
					overlaps.add(new Overlap(from, to, List.of(one.lane(), other.lane()),
							List.of(one.event(), other.event())));
				}
			}
		}
		overlaps.sort(Comparator.comparingDouble(Overlap::from));
		return overlaps;
	}

	private static List<List<LabEvent>> doubleSales(List<LabEvent> events) {
		Map<String, List<LabEvent>> sales = new HashMap<>();
		events.stream()
			.filter((event) -> event.is("sold"))
			.forEach((event) -> sales.computeIfAbsent(event.text("seat"), (seat) -> new ArrayList<>()).add(event));
		return sales.values()
			.stream()
			.filter((each) -> each.size() > 1)
			.sorted(Comparator.comparingDouble((each) -> each.get(1).at()))
			.toList();
	}

	/** Progress is a shop that acts, and any sale or refusal. */
	private static @Nullable Span longestGap(List<LabEvent> events, List<Span> acting, double end) {
		List<Span> progress = new ArrayList<>(acting);
		events.stream()
			.filter((event) -> event.is("sold", "refused") && event.at() <= end)
			.forEach((event) -> progress.add(new Span(event.lane(), event.at(), event.at(), event.i())));
		progress.sort(Comparator.comparingDouble(Span::from));
		progress.add(new Span("", end, end, -1));
		Span longest = null;
		double last = 0;
		for (Span each : progress) {
			if (longest == null || each.from() - last > longest.to() - longest.from()) {
				longest = new Span("", last, Math.max(last, each.from()), -1);
			}
			last = Math.max(last, each.to());
		}
		return longest;
	}

	/** Errors, which go on into the second half of the gap. */
	private static boolean failing(List<LabEvent> events, Span gap) {
		double middle = (gap.from() + gap.to()) / 2;
		return events.stream().anyMatch((event) -> event.is("failed") && event.at() > middle && event.at() <= gap.to());
	}

}
