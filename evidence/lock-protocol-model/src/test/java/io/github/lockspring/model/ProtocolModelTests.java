package io.github.lockspring.model;

import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

import io.github.lockspring.model.Explorer.Exploration;
import io.github.lockspring.model.Scenario.Fault;
import io.github.lockspring.model.Scenario.Option;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The protocol with all its rules: no order of steps breaks a promise. The build explores
 * the first states of each scenario; {@code -Pmodel} explores all of them.
 */
class ProtocolModelTests {

	private static final int MAX_STATES = Integer.getInteger("lockspring.model.states", 6_000);

	/** With so many states each event occurs. */
	private static final int DEEP = 100_000;

	/**
	 * Ticks without an owner, or with one that does not know it, until a waiter retries.
	 */
	private static final int RETRIED = Scenario.RETRY_INTERVAL;

	private static final Map<String, Scenario> SCENARIOS = scenarios();

	private static final Map<String, Exploration<Event>> EXPLORATIONS = new LinkedHashMap<>();

	private static Map<String, Scenario> scenarios() {
		Scenario two = Scenario.of(Role.WAITS, Role.WAITS).with(Option.EXACT_COUNT).withOwnerships(1);
		Scenario three = Scenario.of(Role.WAITS, Role.WAITS, Role.WAITS).with(Option.EXACT_COUNT).withOwnerships(1);
		Map<String, Scenario> scenarios = new LinkedHashMap<>();
		scenarios.put("nothing goes wrong", two.withMaxIdle(0));
		scenarios.put("nothing goes wrong, two ownerships each", two.withOwnerships(2).withMaxIdle(0));
		scenarios.put("nothing goes wrong, three instances", three.withMaxIdle(0));
		scenarios.put("waiters give up", two.with(Option.GIVING_UP).withOwnerships(2).withMaxIdle(0));
		scenarios.put("leases are renewed", two.with(Option.RENEWALS, Option.SHORT_RENEWALS).withMaxIdle(0));
		scenarios.put("a loss", two.with(Fault.LOSS, 1).withMaxIdle(RETRIED));
		scenarios.put("two losses", two.with(Fault.LOSS, 2).withMaxIdle(RETRIED));
		scenarios.put("a loss, waiters give up",
				two.with(Fault.LOSS, 1).with(Option.GIVING_UP).withOwnerships(2).withMaxIdle(RETRIED));
		scenarios.put("a loss, renewals and hand-offs", two.with(Fault.LOSS, 1).with(Option.RENEWALS).withHandoffs(1));
		scenarios.put("a crash", two.with(Fault.CRASH, 1).withOwnerships(2).withMaxIdle(RETRIED));
		scenarios.put("a subscription ends", two.with(Fault.SUBSCRIPTION, 1).withMaxIdle(RETRIED));
		scenarios.put("an instance without an inbox",
				Scenario.of(Role.WAITS, Role.NO_INBOX)
					.with(Option.EXACT_COUNT)
					.with(Fault.LOSS, 1)
					.withOwnerships(1)
					.withMaxIdle(RETRIED));
		// no message can reach an orphan's instance: the lock is free when its lease ends
		scenarios.put("an instance without an inbox, two losses",
				Scenario.of(Role.WAITS, Role.NO_INBOX)
					.with(Option.EXACT_COUNT)
					.with(Fault.LOSS, 2)
					.withOwnerships(1)
					.withMaxIdle(Scenario.TTL));
		scenarios.put("an instance without an inbox, a crash",
				Scenario.of(Role.WAITS, Role.NO_INBOX)
					.with(Option.EXACT_COUNT)
					.with(Fault.CRASH, 1)
					.withOwnerships(2)
					.withMaxIdle(RETRIED));
		scenarios.put("an instance without an inbox beside two that hand over",
				Scenario.of(Role.WAITS, Role.WAITS, Role.NO_INBOX)
					.with(Option.EXACT_COUNT, Option.CONTENDED)
					.withOwnerships(1)
					.withMaxIdle(RETRIED));
		// an attempt may be executed again after its caller was told that the lock is
		// busy
		scenarios.put("callers that do not wait",
				Scenario.of(Role.WAITS, Role.TRIES)
					.with(Option.EXACT_COUNT)
					.with(Fault.LOSS, 1)
					.withOwnerships(2)
					.withMaxIdle(Scenario.TTL));
		scenarios.put("a plain client", two.with(Fault.PLAIN_CLIENT, 1).with(Fault.LOSS, 1));
		scenarios.put("the store loses its data", two.with(Fault.DATA_LOSS, 1).withHandoffs(1).withMaxIdle(RETRIED));
		scenarios.put("the server's clock stands", two.with(Fault.CLOCK, 1).withHandoffs(1));
		Scenario shared = two.with(Option.OTHER_LOCKS).withHandoffs(1);
		scenarios.put("other locks share the fencing token, a loss", shared.with(Fault.LOSS, 1).withMaxIdle(RETRIED));
		scenarios.put("other locks share the fencing token, the store loses its data",
				shared.with(Fault.DATA_LOSS, 1).withMaxIdle(RETRIED));
		scenarios.put("other locks share the fencing token, the server's clock stands", shared.with(Fault.CLOCK, 1));
		scenarios.put("local callers all the time",
				Scenario.of(Role.BUSY, Role.WAITS)
					.with(Option.EXACT_COUNT, Option.RENEWALS)
					.withOwnerships(1)
					.withHandoffs(4)
					.withFairRuns(0, 2));
		return scenarios;
	}

	static Set<String> names() {
		return SCENARIOS.keySet();
	}

	@BeforeAll
	static void explore() {
		SCENARIOS.forEach((name, scenario) -> {
			Exploration<Event> exploration = Explorer.explore(scenario, MAX_STATES);
			System.out.println(name + ": " + exploration);
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
		Map<Event, Long> events = new LinkedHashMap<>();
		EXPLORATIONS.values()
			.forEach((exploration) -> exploration.events()
				.forEach((event, times) -> events.merge(event, times, Long::sum)));
		Set<Event> possible = EnumSet.allOf(Event.class);
		// only without the rules that a server counts before it publishes, and that a
		// release is repeated
		possible.remove(Event.RELEASE_MISCOUNTS);
		possible.remove(Event.RELEASE_LOST);
		if (MAX_STATES < DEEP) {
			// takes a grant and a later message about it, which need many steps
			possible.remove(Event.MESSAGE_OVERTAKES);
		}

		Set<Event> missing = EnumSet.noneOf(Event.class);
		for (Event event : possible) {
			if (events.get(event) == 0) {
				missing.add(event);
			}
		}
		assertThat(missing).as(events.toString()).isEmpty();
	}

}
