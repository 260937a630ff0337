package io.github.lockspring.benchmarks.contention;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import io.github.lockspring.benchmarks.adapter.AdapterKind.Ability;

/**
 * Who wants what, and for how long.
 *
 * @param id stable name
 * @param processes number of JVMs
 * @param threads threads in each of them
 * @param keys number of different locks; the threads are dealt out evenly
 * @param sectionMicros how long a lock is held, in microseconds; 0: an empty section
 * @param virtual whether the threads are virtual ones
 */
record Scenario(String id, int processes, int threads, int keys, long sectionMicros, boolean virtual) {

	/** Not a contest: {@link HeldLocks}. */
	static final Scenario HELD = new Scenario("held-50000", 1, 32, 50_000, 0, false);

	/** Free locks for each process; never measured. */
	static final Scenario WARM_UP = new Scenario("warm-up", 1, 16, 16, 0, false);

	static final List<Scenario> ALL = List.of(new Scenario("free-1", 1, 1, 1, 0, false),
			new Scenario("keys-8", 1, 8, 8, 0, false), new Scenario("keys-64", 1, 64, 64, 0, false),
			new Scenario("hot-1x64", 1, 64, 1, 0, false), new Scenario("hot-4x8", 4, 8, 1, 0, false),
			new Scenario("hot-4x8-5ms", 4, 8, 1, 5000, false), new Scenario("hot-2x1", 2, 1, 1, 0, false),
			new Scenario("hot-4x1", 4, 1, 1, 0, false), new Scenario("hot-8x1", 8, 1, 1, 0, false),
			new Scenario("hot-1x256", 1, 256, 1, 0, false), new Scenario("hot-1x64-virtual", 1, 64, 1, 0, true),
			new Scenario("hot-1x256-virtual", 1, 256, 1, 0, true), HELD);

	static Scenario of(String id) {
		if (id.equals(WARM_UP.id)) {
			return WARM_UP;
		}
		return ALL.stream()
			.filter((scenario) -> scenario.id.equals(id))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("No scenario '" + id + "'; there are " + ids()));
	}

	static String ids() {
		return ALL.stream().map(Scenario::id).collect(Collectors.joining(", "));
	}

	/**
	 * Returns whether a thread ever has to wait.
	 */
	boolean isContended() {
		return this.processes * this.threads > this.keys;
	}

	Ability needs() {
		if (this == HELD) {
			return Ability.HELD;
		}
		return isContended() ? Ability.CONTENDED : Ability.UNCONTENDED;
	}

	/**
	 * Virtual threads came with Java 21.
	 */
	boolean canRunHere() {
		return !this.virtual || Runtime.version().feature() >= 21;
	}

	String description() {
		String who = plural(this.processes, "JVM") + " × "
				+ plural(this.threads, this.virtual ? "virtual thread" : "thread");
		String what = (this.keys == 1) ? "one key" : plural(this.keys, "key");
		String section = (this.sectionMicros == 0) ? "empty section"
				: "section of " + this.sectionMicros / 1000.0 + " ms";
		return String.join(", ", Arrays.asList(who, what, section));
	}

	private static String plural(int number, String noun) {
		return number + " " + noun + ((number == 1) ? "" : "s");
	}

}
