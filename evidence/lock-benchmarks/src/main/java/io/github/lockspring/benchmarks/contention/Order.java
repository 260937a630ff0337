package io.github.lockspring.benchmarks.contention;

import io.github.lockspring.benchmarks.adapter.AdapterKind;

/**
 * An order to a worker. Times are wall-clock milliseconds, since each process has to
 * begin at the same moment.
 *
 * @param adapter whose lock
 * @param scenario the scenario
 * @param startMillis when the threads begin
 * @param warmUpMillis how long after the start the measurement begins
 * @param measureMillis how long it takes; threads inside then finish, and stop
 */
record Order(AdapterKind adapter, Scenario scenario, long startMillis, long warmUpMillis, long measureMillis) {

	static Order parse(String line) {
		String[] words = line.split(" ");
		return new Order(AdapterKind.of(words[1]), Scenario.of(words[2]), Long.parseLong(words[3]),
				Long.parseLong(words[4]), Long.parseLong(words[5]));
	}

	String line() {
		return String.join(" ", "run", this.adapter.id(), this.scenario.id(), String.valueOf(this.startMillis),
				String.valueOf(this.warmUpMillis), String.valueOf(this.measureMillis));
	}

}
