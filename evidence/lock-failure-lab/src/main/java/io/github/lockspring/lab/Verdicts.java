package io.github.lockspring.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

import io.github.lockspring.lab.history.Code;
import io.github.lockspring.lab.history.Findings.Overlap;
import io.github.lockspring.lab.history.Findings;
import io.github.lockspring.lab.history.LabEvent;
import io.github.lockspring.lab.history.Verdict;
import org.jspecify.annotations.Nullable;

/**
 * Judges the findings of a run.
 */
final class Verdicts {

	private Verdicts() {
	}

	static Verdict of(Cell cell, Findings findings, List<LabEvent> events, int soldTwice) {
		Code code = (soldTwice > 0) ? Code.SOLD_TWICE : findings.code();
		boolean stuck = code == Code.STUCK || code == Code.UNAVAILABLE;
		Double seconds = stuck ? Math.round(findings.stuckMillis() / 10) / 100.0 : null;
		List<String> why = new ArrayList<>();
		why.add(what(code, findings, events));
		overlap(findings, events, why);
		if (code == Code.TWO_HOLDERS || code == Code.SOLD_TWICE) {
			refusal(events).ifPresent(why::add);
		}
		why.add(cell.theory());
		return new Verdict(code, seconds, cell.expected(), cell.allows(code), why, cell.failure(),
				Rules.of(cell.failure()), findings.overlaps());
	}

	static Verdict failed(Cell cell, String message) {
		return new Verdict(Code.FAILED, null, cell.expected(), false, List.of("The lab failed: " + message),
				cell.failure(), null, List.of());
	}

	static Verdict cancelled(Cell cell) {
		return new Verdict(Code.CANCELLED, null, cell.expected(), false, List.of("The run was cancelled."),
				cell.failure(), null, List.of());
	}

	private static String what(Code code, Findings findings, List<LabEvent> events) {
		return switch (code) {
			case SOLD_TWICE -> soldTwice(findings);
			case TWO_HOLDERS -> "Two shops were inside at the same time. No seat was sold twice.";
			case STUCK -> "From " + seconds(findings.stuckFrom()) + " on, no shop was inside for "
					+ seconds(findings.stuckMillis()) + ", although shops asked.";
			case UNAVAILABLE -> "From " + seconds(findings.stuckFrom()) + " on, shops got errors for "
					+ seconds(findings.stuckMillis()) + ", and sold nothing.";
			case REFUSED -> refusal(events).orElse("A late write was refused.");
			default -> "No two shops were inside at the same time, and no seat was sold twice.";
		};
	}

	private static Optional<String> refusal(List<LabEvent> events) {
		return events.stream()
			.filter((event) -> event.is("refused"))
			.findFirst()
			.map((event) -> title(event.lane()) + " wrote late at " + seconds(event.at()) + " and was refused: "
					+ event.text("text"));
	}

	private static String soldTwice(Findings findings) {
		if (findings.doubleSales().isEmpty()) {
			return "The database has a seat that was sold twice.";
		}
		List<LabEvent> sales = findings.doubleSales().get(0);
		LabEvent first = sales.get(0);
		LabEvent second = sales.get(1);
		return title(first.lane()) + " sold seat " + first.text("seat") + " at " + seconds(first.at()) + ", and "
				+ title(second.lane()) + " sold it again at " + seconds(second.at()) + ".";
	}

	private static void overlap(Findings findings, List<LabEvent> events, List<String> why) {
		if (findings.overlaps().isEmpty()) {
			return;
		}
		Overlap overlap = findings.overlaps().get(0);
		String text = title(overlap.holders().get(0)) + " and " + title(overlap.holders().get(1))
				+ " were both inside from " + seconds(overlap.from()) + " to " + seconds(overlap.to());
		LabEvent first = events.stream()
			.filter((event) -> event.i() == overlap.events().get(0))
			.findFirst()
			.orElse(null);
		Double leaseEnd = (first != null) ? first.number("leaseEnd") : null;
		why.add(text + ((first != null && leaseEnd != null && leaseEnd < overlap.to())
				? "; the lease that " + title(first.lane()) + " got first ended at " + seconds(leaseEnd) + "." : "."));
	}

	private static String title(String lane) {
		return lane.replace("shop-", "Shop ");
	}

	private static String seconds(@Nullable Double millis) {
		return String.format(Locale.ROOT, "%.2f s", (millis != null) ? millis / 1000 : 0.0);
	}

}
