package io.github.lockspring.model.zookeeper;

import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.lockspring.model.Explorer;
import io.github.lockspring.model.Explorer.Exploration;
import io.github.lockspring.model.zookeeper.Scenario.Option;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Nodes in ZooKeeper with all rules: no order of steps breaks a promise. The build
 * explores the first states of each scenario; {@code -Pmodel} explores all of them.
 */
class NodesModelTests {

	private static final int MAX_STATES = Integer.getInteger("lockspring.model.states", 2_500);

	/** With so many states each event occurs. */
	private static final int DEEP = 100_000;

	private static final Map<String, Scenario> SCENARIOS = scenarios();

	private static final Map<String, Exploration<Event>> EXPLORATIONS = new LinkedHashMap<>();

	private static Map<String, Scenario> scenarios() {
		Scenario two = Scenario.of(2, 1, 1);
		Scenario checked = two.with(Option.CHECKS);
		Scenario reported = Scenario.withReports().with(Option.CHECKS);
		Map<String, Scenario> scenarios = new LinkedHashMap<>();
		scenarios.put("nothing goes wrong", two.with(Option.GIVING_UP));
		scenarios.put("nothing goes wrong, two tokens each", Scenario.of(2, 2, 1));
		scenarios.put("nothing goes wrong, three instances", Scenario.of(3, 1, 1));
		scenarios.put("nodes are checked", checked);
		scenarios.put("a connection is lost", two.with(Fault.CONNECTION, 1).with(Option.GIVING_UP));
		scenarios.put("two connections are lost", two.with(Fault.CONNECTION, 2));
		scenarios.put("a connection is lost, two tokens each", Scenario.of(2, 2, 1).with(Fault.CONNECTION, 1));
		scenarios.put("a session is given up", two.with(Fault.CONNECTION, 1).with(Fault.GIVEN_UP, 1));
		scenarios.put("a suspension", checked.with(Fault.SUSPENSION, 1));
		scenarios.put("a watch is lost", two.with(Fault.WATCH, 1));
		scenarios.put("deleted by hand", checked.with(Fault.BY_HAND, 1));
		scenarios.put("a crash", two.with(Fault.CRASH, 1));
		scenarios.put("a server dies with what it has heard", reported.with(Fault.SERVER, 1));
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
			System.out.println("ZooKeeper, " + name + ": " + exploration);
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
		// only without the rule that forbids it
		missing.remove(Event.CALLER_RESUMES);
		if (MAX_STATES < DEEP) {
			missing.removeAll(EnumSet.of(Event.CONNECTION_ENDS, Event.WATCH_FIRES, Event.WATCH_LOST));
		}
		assertThat(missing).isEmpty();
	}

}
