package io.github.lockspring.history;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import io.github.lockspring.history.Faults.Made;
import io.github.lockspring.testsupport.history.HistoryChecker;
import io.github.lockspring.testsupport.history.HistoryChecker.Violation;
import io.github.lockspring.testsupport.history.RecordedEvents;
import io.github.lockspring.testsupport.history.RecordedHold;

/**
 * Tells people what is wrong with a history: the shortest counter-example, and what
 * happened around it.
 */
final class Report {

	/** What happened so long before may have to do with it. */
	private static final long BEFORE = 4_000_000_000L;

	private static final int MOST_HOLDS = 40;

	private Report() {
	}

	static String of(List<Violation> violations, RecordedEvents events, Fleet fleet, Faults faults, long seed) {
		Violation shortest = violations.get(0);
		long origin = shortest.from();
		StringBuilder text = new StringBuilder();
		text.append(violations.size()).append(" violations, seed ").append(seed).append("; the shortest: ");
		text.append(shortest.kind()).append(" of '").append(shortest.first().key()).append("'. Milliseconds from ");
		text.append(origin).append(" ns.\n  ").append(line(shortest.first(), origin));
		text.append("\n  ").append(line(shortest.second(), origin));
		text.append("\nHolds of the key around it:");
		holdsAround(shortest, events).forEach((hold) -> text.append("\n  ").append(line(hold, origin)));
		text.append("\nFaults around it:");
		faults.made()
			.stream()
			.filter((fault) -> fault.to() > origin - BEFORE && fault.from() < shortest.to())
			.sorted(Comparator.comparingLong(Made::from))
			.forEach((fault) -> text.append(String.format(Locale.ROOT, "%n  %10.3f … %10.3f  %s %s",
					millis(fault.from(), origin), millis(fault.to(), origin), fault.kind(), fault.target())));
		fleet.losses.stream()
			.filter((loss) -> loss.to() > origin - BEFORE && loss.from() < shortest.to())
			.forEach((loss) -> text.append(String.format(Locale.ROOT, "%n  %10.3f … %10.3f  data lost",
					millis(loss.from(), origin), millis(loss.to(), origin))));
		return text.toString();
	}

	private static Stream<RecordedHold> holdsAround(Violation violation, RecordedEvents events) {
		List<RecordedHold> around = events.holds()
			.stream()
			.filter((hold) -> hold.key().equals(violation.first().key()))
			.filter((hold) -> Math.max(hold.until(), hold.granted()) > violation.from() - BEFORE
					&& hold.granted() <= violation.to())
			.sorted(Comparator.comparingLong(RecordedHold::granted))
			.toList();
		return around.stream().skip(Math.max(0, around.size() - MOST_HOLDS));
	}

	private static String line(RecordedHold hold, long origin) {
		return String.format(Locale.ROOT, "%10.3f … %10.3f  token %d by %s #%d, asked for at %.3f, lease %d ms",
				millis(hold.granted(), origin), millis(hold.until(), origin), hold.token(), hold.worker(),
				hold.number(), millis(hold.asked(), origin), hold.lease() / 1_000_000);
	}

	private static double millis(long time, long origin) {
		return (time - origin) / 1e6;
	}

}
