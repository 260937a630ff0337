package io.github.lockspring.model;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.github.lockspring.model.Machine.Failure;
import org.jspecify.annotations.Nullable;

/**
 * Runs states to their end with nothing going wrong any more, and checks that each waiter
 * gets on: that the run ends, that the lock is not idle for long meanwhile, and that no
 * owner keeps it for long while another instance waits. Remembers what follows from each
 * state, so no state is run twice. Not thread-safe.
 */
final class FairRuns implements Machine.Outlook<Event> {

	/** A run that takes more steps does not end. */
	private static final int MAX_STEPS = 1000;

	/** In so many ticks each of a few contending instances has its turn. */
	private static final int MAX_TICKS = 20;

	private final Scenario scenario;

	private final World world;

	private final Fingerprints outlooks = new Fingerprints();

	FairRuns(Scenario scenario) {
		this.scenario = scenario;
		this.world = new World(scenario);
		this.world.setFair();
	}

	@Override
	public @Nullable Failure<Event> look(byte[] state) {
		Failure<Event> failure = run(state);
		if (failure == null && this.scenario.has(Scenario.Option.CONTENDED)) {
			failure = runContended(state);
		}
		return failure;
	}

	/**
	 * Runs a state to its end.
	 * @return null, or what went wrong and the steps to it
	 */
	private @Nullable Failure<Event> run(byte[] state) {
		List<Passed> passed = new ArrayList<>();
		Outlook outlook = Outlook.NONE;
		byte[] present = state;
		while (true) {
			long fingerprint = Fingerprints.of(present);
			int known = this.outlooks.get(fingerprint);
			if (known >= 0) {
				outlook = Outlook.decode(known);
				break;
			}
			this.world.load(present);
			if (FairSchedule.isOver(this.world)) {
				break;
			}
			if (passed.size() > MAX_STEPS) {
				return failure(FairSchedule.isWaitedFor(this.world) ? "a waiter waits for ever"
						: "something is left in the store for ever", passed);
			}
			Step<Event> step = FairSchedule.next(this.world);
			passed.add(new Passed(fingerprint, step, FairSchedule.isIdle(this.world), FairSchedule.isKept(this.world)));
			try {
				this.world.perform(step);
			}
			catch (LimitReached ex) {
				break;
			}
			catch (Violation ex) {
				return failure(ex.what(), passed);
			}
			present = this.world.state();
		}
		return judge(passed, outlook);
	}

	/**
	 * Runs a state while new callers arrive all the time, until each instance that waits
	 * has had the lock.
	 * @return null, or which instance starves and the steps that show it
	 */
	private @Nullable Failure<Event> runContended(byte[] state) {
		this.world.load(state);
		Set<Instance> waiters = new HashSet<>(this.world.instances());
		waiters.removeIf((instance) -> !instance.waits());
		List<Step<Event>> steps = new ArrayList<>();
		int ticks = 0;
		while (!waiters.isEmpty()) {
			Step<Event> step = FairSchedule.next(this.world, true);
			steps.add(step);
			try {
				this.world.perform(step);
			}
			catch (LimitReached ex) {
				return null;
			}
			ticks += (step.event() == Event.TICK) ? 1 : 0;
			waiters.removeIf(Instance::isHolder);
			if (ticks > MAX_TICKS) {
				return new Failure<>("an instance starves beside others", steps);
			}
		}
		return null;
	}

	private @Nullable Failure<Event> judge(List<Passed> passed, Outlook end) {
		Outlook outlook = end;
		for (int i = passed.size() - 1; i >= 0; i--) {
			outlook = outlook.before(passed.get(i));
			if (outlook.idleMost() > this.scenario.maxIdle()) {
				return failure("the lock is idle for " + outlook.idleMost() + " ticks although an instance wants it",
						passed);
			}
			if (outlook.keptMost() > this.scenario.maxKept()) {
				return failure("an owner keeps the lock for " + outlook.keptMost() + " ticks although another waits",
						passed);
			}
			this.outlooks.put(passed.get(i).fingerprint(), outlook.encode());
		}
		return null;
	}

	private static Failure<Event> failure(String what, List<Passed> passed) {
		return new Failure<>(what, passed.stream().map(Passed::step).toList());
	}

	/**
	 * A state of a run and the step that follows.
	 */
	private record Passed(long fingerprint, Step<Event> step, boolean idle, boolean kept) {
	}

	/**
	 * What follows from a state: for how many ticks the lock is idle, or kept by one
	 * owner, although an instance waits: at once, and at most.
	 */
	private record Outlook(int idleNow, int idleMost, int keptNow, int keptMost) {

		private static final int BITS = 7;

		private static final int MASK = (1 << BITS) - 1;

		private static final Outlook NONE = new Outlook(0, 0, 0, 0);

		Outlook before(Passed passed) {
			int idle = this.idleNow;
			int kept = this.keptNow;
			if (passed.step().event() == Event.TICK) {
				idle = passed.idle() ? idle + 1 : 0;
				kept = passed.kept() ? kept + 1 : 0;
			}
			else if (passed.step().event() == Event.HOLD_ENDS) {
				kept = 0;
			}
			return new Outlook(idle, Math.max(this.idleMost, idle), kept, Math.max(this.keptMost, kept));
		}

		int encode() {
			return ((this.idleNow << BITS | this.idleMost) << BITS | this.keptNow) << BITS | this.keptMost;
		}

		static Outlook decode(int code) {
			return new Outlook(code >> 3 * BITS, code >> 2 * BITS & MASK, code >> BITS & MASK, code & MASK);
		}

	}

}
