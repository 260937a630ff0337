package io.github.lockspring.model;

import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * What an exploration found.
 *
 * @param states number of states
 * @param depth number of steps to the states that are farthest away
 * @param complete whether all states were explored
 * @param events how often each event occurred
 * @param violation the shortest way to a violation; null: there is none
 */
record Exploration(int states, int depth, boolean complete, Map<Event, Long> events, @Nullable Trace violation) {

	@Override
	public String toString() {
		String found = (this.violation != null) ? this.violation.toString() : "no violation";
		return "%,d states, %d steps deep, %s: %s".formatted(this.states, this.depth,
				this.complete ? "complete" : "not complete", found);
	}

}
