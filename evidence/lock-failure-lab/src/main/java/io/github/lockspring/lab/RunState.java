package io.github.lockspring.lab;

import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.github.lockspring.lab.history.LabEvent;
import io.github.lockspring.lab.history.Verdict;
import org.jspecify.annotations.Nullable;

/**
 * A run as the page sees it.
 *
 * @param id its name in URLs
 * @param recipe the recipe
 * @param fault the fault
 * @param shops the number of shops
 * @param state {@code starting}, {@code running} or {@code finished}
 * @param startedAt when it was asked for, as ISO 8601
 * @param durationMillis how long the sale has lasted
 * @param lanes what events belong to
 * @param sale the counters of the sale
 * @param verdict the outcome, or null before the end
 * @param events the events, or null where they were not asked for
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RunState(String id, String recipe, String fault, int shops, String state, String startedAt,
		long durationMillis, List<Lane> lanes, Sale sale, @Nullable Verdict verdict, @Nullable List<LabEvent> events) {

	/**
	 * A lane of the timeline, to which events belong.
	 *
	 * @param id its name in events
	 * @param kind {@code shop}, {@code server}, {@code network} or {@code database}
	 * @param title its title
	 * @param pid the process id, or null
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Lane(String id, String kind, String title, @Nullable Long pid) {
	}

	/**
	 * The counters of a sale.
	 *
	 * @param seats the seats of the concert
	 * @param sold the sales
	 * @param soldTwice the seats that were sold more than once
	 * @param refused the writes that were refused
	 * @param waiting the shops that wait for the lock
	 */
	public record Sale(int seats, int sold, int soldTwice, int refused, int waiting) {

		/**
		 * Counts.
		 * @param seats the seats of the concert
		 * @param events the history
		 * @return the counters
		 */
		static Sale of(int seats, List<LabEvent> events) {
			List<String> sold = events.stream()
				.filter((event) -> event.is("sold"))
				.map((event) -> event.text("seat"))
				.toList();
			java.util.Map<String, Boolean> waiting = new java.util.HashMap<>();
			java.util.Set<String> seen = new java.util.HashSet<>();
			java.util.Set<String> twice = new java.util.HashSet<>();
			sold.forEach((seat) -> {
				if (!seen.add(seat)) {
					twice.add(seat);
				}
			});
			for (LabEvent event : events) {
				if (event.is("asked")) {
					waiting.put(event.lane(), true);
				}
				else if (event.is("acquired", "killed", "sold", "refused")) {
					waiting.put(event.lane(), false);
				}
			}
			return new Sale(seats, sold.size(), twice.size(),
					(int) events.stream().filter((event) -> event.is("refused")).count(),
					(int) waiting.values().stream().filter(Boolean::booleanValue).count());
		}

	}

}
