package io.github.lockspring.model.zookeeper;

import java.util.List;

import io.github.lockspring.model.EndingRuns;
import io.github.lockspring.model.Step;
import io.github.lockspring.model.zookeeper.Instance.Phase;

/**
 * Runs states of nodes to their end, although the sessions of those that live are kept
 * for ever.
 */
final class FairRuns extends EndingRuns<Event, World> {

	FairRuns(Scenario scenario) {
		super(new World(scenario), "a node");
	}

	@Override
	protected boolean isOver() {
		boolean busy = world().instances()
			.stream()
			.anyMatch((instance) -> !instance.is(Phase.FREE) && !instance.is(Phase.DEAD));
		return !busy && world().server().nodes().isEmpty() && world().network().isEmpty();
	}

	@Override
	protected boolean isWaitedFor() {
		return world().instances()
			.stream()
			.anyMatch((instance) -> instance.is(Phase.ADDING) || instance.is(Phase.WAITING));
	}

	@Override
	protected Step<Event> next() {
		if (!world().network().isEmpty()) {
			return new Step<>(Event.LATE_REQUEST_EXECUTED, 0);
		}
		for (Event event : List.of(Event.SERVER_CATCHES_UP, Event.CONNECTION_ENDS, Event.RECONNECTED,
				Event.REQUEST_EXECUTED, Event.ANSWER_RECEIVED, Event.CHECK_EXECUTED, Event.CHECK_RECEIVED,
				Event.WATCH_FIRES, Event.SESSION_BEGUN, Event.CHECK_SENT, Event.REQUEST_SENT, Event.HOLD_EXPIRES,
				Event.HOLD_ENDS, Event.REPORTED, Event.SESSION_ENDS)) {
			for (int i = 0; i < event.scope().size(world()); i++) {
				if (event.isPossible(world(), i)) {
					return new Step<>(event, i);
				}
			}
		}
		return new Step<>(Event.TICK, 0);
	}

}
