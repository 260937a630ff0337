package io.github.lockspring.model.etcd;

import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.lockspring.model.Explorer;
import io.github.lockspring.model.Explorer.Exploration;
import io.github.lockspring.model.etcd.Scenario.Option;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Entries on etcd with all rules: no order of steps breaks a promise. The build explores
 * the first states of each scenario; {@code -Pmodel} explores all of them.
 */
class EntriesModelTests {

	private static final int MAX_STATES = Integer.getInteger("lockspring.model.states", 3_000);

	private static final Map<String, Scenario> SCENARIOS = scenarios();

	private static final Map<String, Exploration<Event>> EXPLORATIONS = new LinkedHashMap<>();

	private static Map<String, Scenario> scenarios() {
		Scenario two = Scenario.of(2, 1, 1);
		Scenario twice = Scenario.of(2, 2, 1);
		Scenario renewed = two.with(Option.RENEWALS);
		Scenario raised = two.with(Option.RAISES);
		Map<String, Scenario> scenarios = new LinkedHashMap<>();
		scenarios.put("nothing goes wrong", two.with(Option.GIVING_UP));
		scenarios.put("nothing goes wrong, leases of two ticks", Scenario.of(2, 1, 2));
		scenarios.put("nothing goes wrong, two tokens each", twice);
		scenarios.put("nothing goes wrong, three instances", Scenario.of(3, 1, 1));
		scenarios.put("leases are renewed", renewed);
		scenarios.put("locks are kept", two.with(Option.KEEPS).with(Option.GIVING_UP));
		scenarios.put("holds are raised", raised);
		scenarios.put("holds are raised and renewed", raised.with(Option.RENEWALS));
		scenarios.put("holds are raised and kept, a loss", raised.with(Option.KEEPS).with(Fault.LOSS, 1));
		scenarios.put("a loss", two.with(Fault.LOSS, 1).with(Option.GIVING_UP));
		scenarios.put("a loss, two tokens each", twice.with(Fault.LOSS, 1));
		scenarios.put("two losses", two.with(Fault.LOSS, 2));
		scenarios.put("a loss, leases are renewed", renewed.with(Fault.LOSS, 1));
		scenarios.put("two losses, attempts differ",
				two.with(Fault.LOSS, 2).with(Option.TWO_LENGTHS).with(Option.GIVING_UP));
		scenarios.put("a loss, attempts differ, leases are renewed",
				renewed.with(Fault.LOSS, 1).with(Option.TWO_LENGTHS));
		scenarios.put("additions are repeated", two.with(Fault.REPETITION, 1).with(Option.GIVING_UP));
		scenarios.put("another leader", renewed.with(Fault.LEADER, 1));
		scenarios.put("another leader, a loss", renewed.with(Fault.LEADER, 1).with(Fault.LOSS, 1));
		scenarios.put("renewed after its end", renewed.with(Fault.RENEWED_AFTER_END, 1));
		scenarios.put("a suspension", renewed.with(Fault.SUSPENSION, 1));
		scenarios.put("a crash", two.with(Fault.CRASH, 1));
		scenarios.put("a crash and a loss", two.with(Fault.CRASH, 1).with(Fault.LOSS, 1));
		scenarios.put("a holder hangs", two.with(Fault.HANG, 1));
		scenarios.put("a watch is lost", two.with(Fault.WATCH, 1));
		scenarios.put("deleted by hand", two.with(Fault.BY_HAND, 1).with(Fault.LOSS, 1));
		scenarios.putAll(restored());
		scenarios.putAll(locks());
		return scenarios;
	}

	private static Map<String, Scenario> restored() {
		Scenario two = Scenario.of(2, 1, 1).with(Fault.RESTORE, 1);
		Map<String, Scenario> scenarios = new LinkedHashMap<>();
		scenarios.put("a backup is restored", two);
		scenarios.put("a backup is restored, leases are renewed", two.with(Option.RENEWALS));
		scenarios.put("a backup is restored, a loss", two.with(Option.GIVING_UP).with(Fault.LOSS, 1));
		scenarios.put("a backup is restored, holds are raised", two.with(Option.RAISES));
		scenarios.put("a backup is restored, locks are kept", two.with(Option.KEEPS));
		scenarios.put("a backup is restored, two tokens each", Scenario.of(2, 2, 1).with(Fault.RESTORE, 1));
		scenarios.put("a backup is restored, leases of two ticks",
				Scenario.of(2, 1, 2).with(Option.RENEWALS).with(Fault.RESTORE, 1));
		return scenarios;
	}

	/** Two locks whose entries share the lease of an instance. */
	private static Map<String, Scenario> locks() {
		Scenario shared = Scenario.of(2, 1, 1).withLocks(2).with(Option.ONE_RIVALRY);
		Scenario alone = Scenario.of(1, 2, 1).withLocks(2);
		Map<String, Scenario> scenarios = new LinkedHashMap<>();
		scenarios.put("two locks", shared);
		scenarios.put("two locks, two instances want both", Scenario.of(2, 1, 1).withLocks(2));
		scenarios.put("two locks, leases are renewed", shared.with(Option.RENEWALS));
		scenarios.put("two locks, a loss", shared.with(Option.GIVING_UP).with(Fault.LOSS, 1));
		scenarios.put("two locks, holds are raised", shared.with(Option.RAISES));
		scenarios.put("two locks, one instance, a loss", alone.with(Option.GIVING_UP).with(Fault.LOSS, 1));
		scenarios.put("two locks, one instance, holds are raised and kept",
				alone.with(Option.RAISES).with(Option.KEEPS));
		scenarios.put("two locks, a backup is restored", shared.with(Fault.RESTORE, 1));
		return scenarios;
	}

	static Set<String> names() {
		return SCENARIOS.keySet();
	}

	@BeforeAll
	static void explore() {
		SCENARIOS.forEach((name, scenario) -> {
			Exploration<Event> exploration = Explorer.explore(new World(scenario), new FairRuns(scenario), List.of(),
					MAX_STATES);
			System.out.println("etcd, " + name + ": " + exploration);
			EXPLORATIONS.put(name, exploration);
		});
	}

	@ParameterizedTest
	@MethodSource("names")
	void noOrderOfStepsBreaksAPromise(String scenario) {
		Exploration<Event> exploration = EXPLORATIONS.get(scenario);
		assertThat(exploration.violation()).as(exploration.toString()).isNull();
		assertThat(exploration.states()).isGreaterThan(1_000);
	}

	@Test
	void everyEventOccurs() {
		Set<Event> missing = EnumSet.allOf(Event.class);
		EXPLORATIONS.values().forEach((exploration) -> exploration.events().forEach((event, times) -> {
			if (times > 0) {
				missing.remove(event);
			}
		}));
		// only without the rules that forbid them
		missing.remove(Event.CALLER_RESUMES);
		missing.remove(Event.UNUSED_LEASE_REVOKED);
		assertThat(missing).isEmpty();
	}

}
