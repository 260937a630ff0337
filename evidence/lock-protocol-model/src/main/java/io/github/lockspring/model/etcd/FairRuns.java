package io.github.lockspring.model.etcd;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.model.Fingerprints;
import io.github.lockspring.model.LimitReached;
import io.github.lockspring.model.Machine;
import io.github.lockspring.model.Machine.Failure;
import io.github.lockspring.model.Step;
import io.github.lockspring.model.Violation;
import io.github.lockspring.model.etcd.Call.Stage;
import io.github.lockspring.model.etcd.Instance.Phase;
import org.jspecify.annotations.Nullable;

/**
 * Runs states to their end with nothing going wrong any more: what is on its way arrives,
 * each instance does what it has to do, and time passes when nothing is left to be done.
 * Then nobody may wait, and no entry may be left, although the leases of those that live
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
				return new Failure<>(isWaitedFor() ? "a waiter waits for ever" : "an entry stays for ever", steps);
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
		return !busy && this.world.server().entries().isEmpty() && this.world.network().isEmpty();
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
		for (Event event : List.of(Event.REQUEST_EXECUTED, Event.ANSWER_RECEIVED, Event.RENEWAL_EXECUTED,
				Event.RENEWAL_RECEIVED, Event.WATCH_FIRES, Event.LEASE_ASKED, Event.LONGER_LEASE_ASKED,
				Event.KEEP_ALIVE_SENT, Event.LONGER_KEEP_ALIVE_SENT, Event.REQUEST_SENT, Event.HOLD_EXPIRES,
				Event.HOLD_ENDS)) {
			for (int i = 0; i < this.world.instances().size(); i++) {
				if (event.isPossible(this.world, i)) {
					return new Step<>(event, i);
				}
			}
		}
		for (int i = 0; i < this.world.server().leases().size(); i++) {
			if (Event.LEASE_ENDS.isPossible(this.world, i)) {
				return new Step<>(Event.LEASE_ENDS, i);
			}
		}
		return new Step<>(Event.TICK, 0);
	}

}
