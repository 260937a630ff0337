package io.github.lockspring.model;

import java.util.List;

/**
 * The steps that lead to a violation.
 *
 * @param scenario what was explored
 * @param steps the steps, in order
 * @param fairSteps the steps after that, in which nothing goes wrong any more
 * @param what the violation
 */
record Trace(Scenario scenario, List<Step> steps, List<Step> fairSteps, String what) {

	private static final int MAX_FAIR_STEPS = 60;

	@Override
	public String toString() {
		StringBuilder text = new StringBuilder(this.what).append('\n');
		World world = new World(this.scenario);
		int number = 0;
		for (Step step : this.steps) {
			append(text, ++number, step, world);
		}
		if (!this.fairSteps.isEmpty()) {
			text.append("  from now on nothing goes wrong\n");
			world.setFair();
		}
		for (Step step : this.fairSteps) {
			if (number > this.steps.size() + MAX_FAIR_STEPS) {
				return text.append("  …\n").toString();
			}
			append(text, ++number, step, world);
		}
		return text.toString();
	}

	private static void append(StringBuilder text, int number, Step step, World world) {
		String described = step.describe(world);
		String after;
		try {
			world.perform(step);
			after = world.toString();
		}
		catch (Violation ex) {
			after = ex.what();
		}
		world.store().letClockRun();
		text.append("  %2d. %-70s | %s%n".formatted(number, described, after));
	}

}
