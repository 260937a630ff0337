package io.github.lockspring.model.etcd;

import java.util.List;

import io.github.lockspring.model.EndingRuns;
import io.github.lockspring.model.Step;
import io.github.lockspring.model.etcd.Call.Stage;
import io.github.lockspring.model.etcd.Place.Phase;

/**
 * Runs states of entries to their end, although the leases of those that live are kept
 * alive for ever, since other locks are on them.
 */
final class FairRuns extends EndingRuns<Event, World> {

	FairRuns(Scenario scenario) {
		super(new World(scenario), "an entry");
	}

	@Override
	protected boolean isOver() {
		boolean busy = world().places().stream().anyMatch((place) -> !place.is(Phase.FREE) && !place.is(Phase.DEAD));
		return !busy && world().server().data().entries().isEmpty() && world().network().isEmpty();
	}

	@Override
	protected boolean isWaitedFor() {
		return world().places().stream().anyMatch((place) -> place.is(Phase.ADDING) || place.is(Phase.WAITING));
	}

	@Override
	protected Step<Event> next() {
		if (!world().network().isEmpty()) {
			return new Step<>(Event.LATE_REQUEST_EXECUTED, 0);
		}
		for (Event event : List.of(Event.REQUEST_EXECUTED, Event.ANSWER_RECEIVED, Event.RENEWAL_EXECUTED,
				Event.RENEWAL_RECEIVED, Event.WATCH_FIRES, Event.LEASE_ASKED, Event.OTHER_LEASE_ASKED,
				Event.LONGER_LEASE_ASKED, Event.KEEP_ALIVE_SENT, Event.OTHER_KEEP_ALIVE_SENT,
				Event.LONGER_KEEP_ALIVE_SENT, Event.REQUEST_SENT, Event.HOLD_EXPIRES, Event.HOLD_ENDS)) {
			for (int i = 0; i < event.scope().size(world()); i++) {
				if (event.isPossible(world(), i)) {
					return new Step<>(event, i);
				}
			}
		}
		for (int i = 0; i < world().server().data().leases().size(); i++) {
			if (Event.LEASE_ENDS.isPossible(world(), i)) {
				return new Step<>(Event.LEASE_ENDS, i);
			}
		}
		return new Step<>(Event.TICK, 0);
	}

}
