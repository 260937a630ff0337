package io.github.lockspring.lab.history;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The holds of a history, and when their shops acted inside of the section.
 */
final class Holds {

	private static final String[] ENDS = { "released", "lost", "believes", "refused" };

	private final Map<String, Open> holds = new LinkedHashMap<>();

	private final Map<String, List<Span>> pauses = new LinkedHashMap<>();

	private final double end;

	/**
	 * Finds the holds.
	 * @param events the history, in any order of time between lanes
	 * @param end the end of the run
	 */
	Holds(List<LabEvent> events, double end) {
		this.end = end;
		Map<String, Double> stopped = new LinkedHashMap<>();
		for (LabEvent event : events) {
			switch (event.type()) {
				case "acquired" -> this.holds.put(String.valueOf(event.hold()), new Open(event, end));
				case "stopped" -> stopped.put(event.lane(), event.at());
				case "continued" -> pause(event.lane(), stopped.remove(event.lane()), event.at());
				case "killed" -> this.holds.values()
					.stream()
					.filter((hold) -> hold.acquired.lane().equals(event.lane()))
					.forEach((hold) -> hold.to = Math.min(hold.to, event.at()));
				default -> update(event);
			}
		}
		stopped.forEach((lane, from) -> pause(lane, from, end));
	}

	private void update(LabEvent event) {
		Open hold = this.holds.get(String.valueOf(event.hold()));
		if (hold == null) {
			return;
		}
		Double leaseEnd = event.number("leaseEnd");
		if (event.is("renewed") && leaseEnd != null) {
			hold.leaseEnd = Math.max(hold.leaseEnd, leaseEnd);
		}
		if (event.is(ENDS)) {
			hold.to = Math.min(hold.to, event.at());
		}
	}

	private void pause(String lane, Double from, double to) {
		if (from != null) {
			this.pauses.computeIfAbsent(lane, (key) -> new ArrayList<>()).add(new Span(lane, from, to, -1));
		}
	}

	/**
	 * Returns when shops acted inside: the holds, without the time in which their
	 * processes were stopped, and, where the holder knows the end of its lease by its own
	 * clock, without what came after it.
	 */
	List<Span> acting() {
		List<Span> acting = new ArrayList<>();
		for (Open hold : this.holds.values()) {
			double to = hold.acquired.details().containsKey("watched") ? Math.min(hold.to, hold.leaseEnd) : hold.to;
			double from = hold.acquired.at();
			for (Span pause : this.pauses.getOrDefault(hold.acquired.lane(), List.of())) {
				if (pause.from < to && pause.to > from) {
					acting.add(new Span(hold.acquired.lane(), from, pause.from, hold.acquired.i()));
					from = pause.to;
				}
			}
			acting.add(new Span(hold.acquired.lane(), from, Math.min(to, this.end), hold.acquired.i()));
		}
		acting.removeIf((span) -> span.to <= span.from);
		return acting;
	}

	/**
	 * A time in which a shop acts inside of the section.
	 *
	 * @param lane the shop
	 * @param from its begin
	 * @param to its end
	 * @param event the number of the event with which the hold began
	 */
	record Span(String lane, double from, double to, int event) {
	}

	private static final class Open {

		private final LabEvent acquired;

		private double to;

		private double leaseEnd;

		Open(LabEvent acquired, double end) {
			this.acquired = acquired;
			this.to = end;
			Double leaseEnd = acquired.number("leaseEnd");
			this.leaseEnd = (leaseEnd != null) ? leaseEnd : end;
		}

	}

}
