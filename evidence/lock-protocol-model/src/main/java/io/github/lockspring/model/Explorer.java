package io.github.lockspring.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;

import io.github.lockspring.model.World.LimitReached;
import org.jspecify.annotations.Nullable;

/**
 * Explores all states of a scenario, breadth first, so the first violation that it finds
 * is one with the fewest steps. Not thread-safe.
 */
final class Explorer {

	private final Scenario scenario;

	private final World world;

	private final int maxStates;

	private final @Nullable FairRuns fairRuns;

	private final Fingerprints seen = new Fingerprints();

	private final long[] events = new long[Event.ALL.length];

	/** From which state, and by which step, each state was reached first. */
	private int[] parents = new int[1 << 16];

	private short[] steps = new short[1 << 16];

	private int depth;

	private final List<Step> start;

	private Explorer(Scenario scenario, List<Step> start, int maxStates) {
		this.start = start;
		this.scenario = scenario;
		this.world = new World(scenario);
		this.maxStates = maxStates;
		this.fairRuns = (scenario.maxIdle() >= 0) ? new FairRuns(scenario) : null;
	}

	/**
	 * Explores a scenario.
	 * @param maxStates after how many states to stop
	 */
	static Exploration explore(Scenario scenario, int maxStates) {
		return explore(scenario, List.of(), maxStates);
	}

	/**
	 * Explores what follows after some steps.
	 */
	static Exploration explore(Scenario scenario, List<Step> start, int maxStates) {
		return new Explorer(scenario, start, maxStates).explore();
	}

	private Exploration explore() {
		this.start.forEach(this.world::perform);
		byte[] initial = this.world.state();
		List<byte[]> level = List.of(initial);
		add(initial, -1, (short) 0);
		int first = 0;
		while (!level.isEmpty() && this.seen.size() <= this.maxStates) {
			int nextFirst = this.seen.size();
			List<byte[]> next = new ArrayList<>();
			for (int i = 0; i < level.size(); i++) {
				Trace found = expand(level.get(i), first + i, next);
				if (found != null) {
					return result(found, false);
				}
			}
			level = next;
			first = nextFirst;
			this.depth++;
		}
		return result(null, level.isEmpty());
	}

	private @Nullable Trace expand(byte[] state, int number, List<byte[]> next) {
		if (this.fairRuns != null) {
			FairRuns.Failure failure = this.fairRuns.run(state);
			if (failure == null && this.scenario.has(Scenario.Option.CONTENDED)) {
				failure = this.fairRuns.runContended(state);
			}
			if (failure != null) {
				return new Trace(this.scenario, path(number), failure.steps(), failure.what());
			}
		}
		World world = this.world;
		world.load(state);
		for (Step step : world.possibleSteps()) {
			this.events[step.event().ordinal()]++;
			world.load(state);
			try {
				world.perform(step);
			}
			catch (LimitReached ex) {
				continue;
			}
			catch (Violation ex) {
				List<Step> path = path(number);
				path.add(step);
				return new Trace(this.scenario, path, List.of(), ex.what());
			}
			byte[] reached = world.state();
			if (add(reached, number, step.encode())) {
				next.add(reached);
			}
		}
		return null;
	}

	private boolean add(byte[] state, int parent, short step) {
		int number = this.seen.size();
		long fingerprint = Fingerprints.of(state);
		if (this.seen.get(fingerprint) >= 0) {
			return false;
		}
		this.seen.put(fingerprint, number);
		if (number == this.parents.length) {
			this.parents = Arrays.copyOf(this.parents, number * 2);
			this.steps = Arrays.copyOf(this.steps, number * 2);
		}
		this.parents[number] = parent;
		this.steps[number] = step;
		return true;
	}

	private List<Step> path(int number) {
		LinkedList<Step> path = new LinkedList<>();
		for (int state = number; state > 0; state = this.parents[state]) {
			path.addFirst(Step.decode(this.steps[state]));
		}
		path.addAll(0, this.start);
		return path;
	}

	private Exploration result(@Nullable Trace violation, boolean complete) {
		Map<Event, Long> occurred = new EnumMap<>(Event.class);
		for (Event event : Event.ALL) {
			occurred.put(event, this.events[event.ordinal()]);
		}
		return new Exploration(this.seen.size(), this.depth, complete, occurred, violation);
	}

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

}
