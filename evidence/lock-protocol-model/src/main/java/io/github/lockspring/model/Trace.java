package io.github.lockspring.model;

import java.util.List;

/**
 * The steps that lead to a violation.
 *
 * @param <E> what can happen
 * @param machine what was explored
 * @param steps the steps, in order
 * @param fairSteps the steps after that, in which nothing goes wrong any more
 * @param what the violation
 */
public record Trace<E extends Enum<E>>(Machine<E> machine, List<Step<E>> steps, List<Step<E>> fairSteps, String what) {

	private static final int MAX_FAIR_STEPS = 60;

	@Override
	public String toString() {
		StringBuilder text = new StringBuilder(this.what).append('\n');
		Machine<E> replayed = this.machine.fresh();
		int number = 0;
		for (Step<E> step : this.steps) {
			append(text, ++number, step, replayed);
		}
		if (!this.fairSteps.isEmpty()) {
			text.append("  from now on nothing goes wrong\n");
			replayed.setFair();
		}
		for (Step<E> step : this.fairSteps) {
			if (number > this.steps.size() + MAX_FAIR_STEPS) {
				return text.append("  …\n").toString();
			}
			append(text, ++number, step, replayed);
		}
		return text.toString();
	}

	private static <E extends Enum<E>> void append(StringBuilder text, int number, Step<E> step, Machine<E> machine) {
		String described = machine.describe(step);
		String after;
		try {
			machine.perform(step);
			after = machine.toString();
		}
		catch (Violation ex) {
			after = ex.what();
		}
		// a state may forget what lasts for one step
		machine.load(machine.state());
		text.append("  %2d. %-70s | %s%n".formatted(number, described, after));
	}

}
