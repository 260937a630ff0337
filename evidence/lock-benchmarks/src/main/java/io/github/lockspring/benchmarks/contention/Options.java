package io.github.lockspring.benchmarks.contention;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.lockspring.benchmarks.adapter.AdapterKind;
import org.jspecify.annotations.Nullable;

/**
 * The options of the command line.
 *
 * @param scenarios the scenarios, in the order in which they run
 * @param adapters the locks that take part
 * @param seconds measured time of a run
 * @param warmUp time before it, in each run
 * @param repetitions how often each lock is measured in each scenario
 * @param heldLocks how many locks are held, and for how long
 * @param out directory for the results
 */
record Options(List<Scenario> scenarios, Set<AdapterKind> adapters, double seconds, Duration warmUp, int repetitions,
		HeldLocks heldLocks, Path out) {

	static final String USAGE = """
			--short              one minute or two, for a first look
			--scenarios a,b      of: %s
			--adapters a,b       of: %s
			--seconds 2.5        measured time of one run
			--repetitions 4      runs of each lock in each scenario
			--out directory      where the report and the raw data go
			""";

	private static final List<String> SHORT_SCENARIOS = List.of("free-1", "keys-64", "hot-1x64", "hot-4x8", "hot-4x1",
			"held-50000");

	static Options parse(String... args) {
		Map<String, String> given = new LinkedHashMap<>();
		boolean brief = false;
		for (int i = 0; i < args.length; i++) {
			if (args[i].equals("--short")) {
				brief = true;
			}
			else if (!Set.of("--scenarios", "--adapters", "--seconds", "--repetitions", "--out").contains(args[i])
					|| i + 1 == args.length) {
				throw new IllegalArgumentException("Unknown or incomplete: " + args[i]);
			}
			else {
				given.put(args[i], args[++i]);
			}
		}
		List<String> defaultScenarios = brief ? SHORT_SCENARIOS : Scenario.ALL.stream().map(Scenario::id).toList();
		return new Options(
				(given.containsKey("--scenarios") ? list(given.get("--scenarios")) : defaultScenarios).stream()
					.map(Scenario::of)
					.toList(),
				adapters(given.get("--adapters")),
				Double.parseDouble(given.getOrDefault("--seconds", brief ? "0.5" : "2.5")),
				Duration.ofMillis(brief ? 200 : 500),
				Integer.parseInt(given.getOrDefault("--repetitions", brief ? "2" : "4")),
				brief ? new HeldLocks(5000, Duration.ofSeconds(9), Duration.ofSeconds(10))
						: new HeldLocks(Scenario.HELD.keys(), Duration.ofSeconds(30), Duration.ofSeconds(40)),
				Path.of(given.getOrDefault("--out", "evidence/lock-benchmarks/target/contention")));
	}

	private static Set<AdapterKind> adapters(@Nullable String ids) {
		Set<AdapterKind> adapters = EnumSet.noneOf(AdapterKind.class);
		if (ids == null) {
			adapters.addAll(EnumSet.allOf(AdapterKind.class));
			adapters.removeIf((kind) -> !kind.isDefault());
		}
		else {
			list(ids).stream().map(AdapterKind::of).forEach(adapters::add);
		}
		return adapters;
	}

	private static List<String> list(String text) {
		return Arrays.stream(text.split(",")).map(String::strip).filter((item) -> !item.isEmpty()).toList();
	}

	/**
	 * The scenarios in which locks compete, as far as they can run here.
	 */
	List<Scenario> contests() {
		return this.scenarios.stream()
			.filter((scenario) -> scenario != Scenario.HELD && scenario.canRunHere())
			.toList();
	}

	/**
	 * For each lock before the first scenario. The processes compile at the same time.
	 */
	double warmUpSeconds() {
		return contests().isEmpty() ? 0 : this.seconds * Math.max(1, processes() / 2);
	}

	int processes() {
		return contests().stream().mapToInt(Scenario::processes).max().orElse(0);
	}

	List<AdapterKind> adaptersFor(Scenario scenario) {
		return this.adapters.stream().filter((kind) -> kind.can(scenario.needs())).toList();
	}

}
