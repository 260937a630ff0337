package io.github.lockspring.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Explores all states of a model, breadth first, so the first violation that it finds is
 * one with the fewest steps. Not thread-safe.
 *
 * @param <E> what can happen
 */
public final class Explorer<E extends Enum<E>> {

	private final Machine<E> machine;

	private final Machine.@Nullable Outlook<E> outlook;

	private final int maxStates;

	private final Fingerprints seen = new Fingerprints();

	private final long[] events;

	/** From which state, and by which step, each state was reached first. */
	private int[] parents = new int[1 << 16];

	private short[] steps = new short[1 << 16];

	private int depth;

	private final List<Step<E>> start;

	private Explorer(Machine<E> machine, Machine.@Nullable Outlook<E> outlook, List<Step<E>> start, int maxStates) {
		this.machine = machine;
		this.outlook = outlook;
		this.start = start;
		this.maxStates = maxStates;
		this.events = new long[machine.events().length];
	}

	/**
	 * Explores a scenario.
	 * @param maxStates after how many states to stop
	 */
	static Exploration<Event> explore(Scenario scenario, int maxStates) {
		return explore(scenario, List.of(), maxStates);
	}

	/**
	 * Explores what follows after some steps.
	 */
	static Exploration<Event> explore(Scenario scenario, List<Step<Event>> start, int maxStates) {
		FairRuns fairRuns = (scenario.maxIdle() >= 0) ? new FairRuns(scenario) : null;
		return explore(new World(scenario), fairRuns, start, maxStates);
	}

	/**
	 * Explores what follows in a model after some steps.
	 * @param <E> what can happen
	 * @param machine a fresh one
	 * @param outlook judges each state; null: nothing does
	 * @param maxStates after how many states to stop
	 */
	public static <E extends Enum<E>> Exploration<E> explore(Machine<E> machine, Machine.@Nullable Outlook<E> outlook,
			List<Step<E>> start, int maxStates) {
		return new Explorer<>(machine, outlook, start, maxStates).explore();
	}

	private Exploration<E> explore() {
		this.start.forEach(this.machine::perform);
		byte[] initial = this.machine.state();
		List<byte[]> level = List.of(initial);
		add(initial, -1, (short) 0);
		int first = 0;
		while (!level.isEmpty() && this.seen.size() <= this.maxStates) {
			int nextFirst = this.seen.size();
			List<byte[]> next = new ArrayList<>();
			for (int i = 0; i < level.size(); i++) {
				Trace<E> found = expand(level.get(i), first + i, next);
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

	private @Nullable Trace<E> expand(byte[] state, int number, List<byte[]> next) {
		if (this.outlook != null) {
			Machine.Failure<E> failure = this.outlook.look(state);
			if (failure != null) {
				return new Trace<>(this.machine, path(number), failure.steps(), failure.what());
			}
		}
		this.machine.load(state);
		for (Step<E> step : this.machine.possibleSteps()) {
			this.events[step.event().ordinal()]++;
			this.machine.load(state);
			try {
				this.machine.perform(step);
			}
			catch (LimitReached ex) {
				continue;
			}
			catch (Violation ex) {
				List<Step<E>> path = path(number);
				path.add(step);
				return new Trace<>(this.machine, path, List.of(), ex.what());
			}
			byte[] reached = this.machine.state();
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

	private List<Step<E>> path(int number) {
		LinkedList<Step<E>> path = new LinkedList<>();
		for (int state = number; state > 0; state = this.parents[state]) {
			path.addFirst(Step.decode(this.steps[state], this.machine.events()));
		}
		path.addAll(0, this.start);
		return path;
	}

	private Exploration<E> result(@Nullable Trace<E> violation, boolean complete) {
		Map<E, Long> occurred = new LinkedHashMap<>();
		for (E event : this.machine.events()) {
			occurred.put(event, this.events[event.ordinal()]);
		}
		return new Exploration<>(this.seen.size(), this.depth, complete, occurred, violation);
	}

	/**
	 * What an exploration found.
	 *
	 * @param <E> what can happen
	 * @param states number of states
	 * @param depth number of steps to the states that are farthest away
	 * @param complete whether all states were explored
	 * @param events how often each event occurred
	 * @param violation the shortest way to a violation; null: there is none
	 */
	public record Exploration<E extends Enum<E>>(int states, int depth, boolean complete, Map<E, Long> events,
			@Nullable Trace<E> violation) {

		@Override
		public String toString() {
			String found = (this.violation != null) ? this.violation.toString() : "no violation";
			return "%,d states, %d steps deep, %s: %s".formatted(this.states, this.depth,
					this.complete ? "complete" : "not complete", found);
		}

	}

}
