package io.github.lockspring.model.zookeeper;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.model.Fingerprints;
import io.github.lockspring.model.LimitReached;
import io.github.lockspring.model.Machine;
import io.github.lockspring.model.Machine.Failure;
import io.github.lockspring.model.Step;
import io.github.lockspring.model.Violation;
import io.github.lockspring.model.zookeeper.Instance.Phase;
import org.jspecify.annotations.Nullable;

/**
 * Runs states to their end with nothing going wrong any more: what is on its way arrives,
 * each instance does what it has to do, and time passes when nothing is left to be done.
 * Then nobody may wait, and no node may be left, although the sessions of those that live
 * are kept alive for ever, since other locks are on them. Remembers the states that end
 * well. Not thread-safe.
 */
final class FairRuns implements Machine.Outlook<Event> {

	/** A run that takes more steps does not end. */
	private static final int MAX_STEPS = 400;

	private final World world;

	private final Fingerprints ended = new Fingerprints();

	FairRuns(Scenario scenario) {
		this.world = new World(scenario);
		this.world.setFair();
	}

	@Override
	public @Nullable Failure<Event> look(byte[] state) {
		this.world.load(state);
		List<Long> passed = new ArrayList<>();
		List<Step<Event>> steps = new ArrayList<>();
		byte[] present = state;
		while (!isOver()) {
			long fingerprint = Fingerprints.of(present);
			if (this.ended.get(fingerprint) >= 0) {
				break;
			}
			if (steps.size() > MAX_STEPS) {
				return new Failure<>(isWaitedFor() ? "a waiter waits for ever" : "a node stays for ever", steps);
			}
			passed.add(fingerprint);
			Step<Event> step = next();
			steps.add(step);
			try {
				this.world.perform(step);
			}
			catch (LimitReached ex) {
				break;
			}
			catch (Violation ex) {
				return new Failure<>(ex.what(), steps);
			}
			present = this.world.state();
			this.world.load(present);
		}
		passed.forEach((fingerprint) -> this.ended.put(fingerprint, 1));
		return null;
	}

	private boolean isOver() {
		boolean busy = this.world.instances()
			.stream()
			.anyMatch((instance) -> !instance.is(Phase.FREE) && !instance.is(Phase.DEAD));
		return !busy && this.world.server().nodes().isEmpty() && this.world.network().isEmpty();
	}

	private boolean isWaitedFor() {
		return this.world.instances()
			.stream()
			.anyMatch((instance) -> instance.is(Phase.ADDING) || instance.is(Phase.WAITING));
	}

	private Step<Event> next() {
		if (!this.world.network().isEmpty()) {
			return new Step<>(Event.LATE_REQUEST_EXECUTED, 0);
		}
		for (Event event : List.of(Event.SERVER_CATCHES_UP, Event.CONNECTION_ENDS, Event.RECONNECTED,
				Event.REQUEST_EXECUTED, Event.ANSWER_RECEIVED, Event.CHECK_EXECUTED, Event.CHECK_RECEIVED,
				Event.WATCH_FIRES, Event.SESSION_BEGUN, Event.CHECK_SENT, Event.REQUEST_SENT, Event.HOLD_EXPIRES,
				Event.HOLD_ENDS, Event.REPORTED, Event.SESSION_ENDS)) {
			for (int i = 0; i < event.scope().size(this.world); i++) {
				if (event.isPossible(this.world, i)) {
					return new Step<>(event, i);
				}
			}
		}
		return new Step<>(Event.TICK, 0);
	}

}
