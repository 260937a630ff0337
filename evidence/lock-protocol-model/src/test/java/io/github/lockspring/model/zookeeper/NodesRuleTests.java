package io.github.lockspring.model.zookeeper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import io.github.lockspring.model.Explorer;
import io.github.lockspring.model.Explorer.Exploration;
import io.github.lockspring.model.Step;
import io.github.lockspring.model.Trace;
import io.github.lockspring.model.zookeeper.Scenario.Option;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Switches each rule off, and sees the model find what goes wrong without it. The
 * shortest way there is written to {@code target/traces}.
 */
class NodesRuleTests {

	private static final Path TRACES = Path.of("target", "traces");

	private static final int MAX_STATES = 100_000;

	@ParameterizedTest
	@EnumSource(Rule.class)
	void modelFindsWhatGoesWrongWithoutARule(Rule rule) throws IOException {
		Scenario scenario = scenario(rule);
		Exploration<Event> without = explore(scenario.without(rule), start(rule), MAX_STATES);
		Trace<Event> found = without.violation();
		assertThat(found).as(rule + ": " + without).isNotNull();
		Files.createDirectories(TRACES);
		String name = "zookeeper-" + rule.name().toLowerCase(Locale.ROOT).replace('_', '-');
		Files.writeString(TRACES.resolve(name + ".txt"), found.toString());
		assertThat(found.what()).as(found.toString()).isEqualTo(consequence(rule));
		Exploration<Event> with = explore(scenario, start(rule), without.states());
		assertThat(with.violation()).as(rule + ": " + with).isNull();
	}

	private static Exploration<Event> explore(Scenario scenario, List<Step<Event>> start, int maxStates) {
		return Explorer.explore(new World(scenario), new FairRuns(scenario), start, maxStates);
	}

	private static Scenario scenario(Rule rule) {
		Scenario two = Scenario.of(2, 1, 1);
		return switch (rule) {
			// a list that is up to date would do as well
			case REMOVAL_IS_FINAL -> two.with(Fault.CONNECTION, 1).without(Rule.SYNC);
			case SYNC, LOOKS_BEFORE_ADDING -> two.with(Fault.CONNECTION, 1);
			case NODE_OF_PRESENT_SESSION -> two.with(Fault.CONNECTION, 1).with(Fault.GIVEN_UP, 1).with(Option.CHECKS);
			case LOSS_IS_TOLD -> two.with(Fault.BY_HAND, 1);
			case PLACE_IS_ASKED_FOR -> two.with(Fault.WATCH, 1);
			case COUNTS_FROM_SENDING -> two;
			case CLOCK_COUNTS_SUSPENSIONS -> two.with(Fault.SUSPENSION, 1);
			case PROOFS_ARE_APART -> Scenario.withReports().with(Fault.SERVER, 1).with(Option.CHECKS);
		};
	}

	/** The steps of a long way that a search need not find. */
	private static List<Step<Event>> start(Rule rule) {
		return switch (rule) {
			case REMOVAL_IS_FINAL -> ofFirst(Event.CALLER_ARRIVES, Event.SESSION_BEGUN, Event.REQUEST_SENT,
					Event.REQUEST_EXECUTED, Event.ANSWER_RECEIVED, Event.HOLD_ENDS, Event.CONNECTION_LOST,
					Event.LATE_REQUEST_EXECUTED, Event.RECONNECTED);
			case NODE_OF_PRESENT_SESSION ->
				ofFirst(Event.CALLER_ARRIVES, Event.SESSION_BEGUN, Event.REQUEST_SENT, Event.CONNECTION_LOST,
						Event.LATE_REQUEST_EXECUTED, Event.TICK, Event.SESSION_GIVEN_UP, Event.SESSION_BEGUN);
			case PROOFS_ARE_APART -> ofFirst(Event.CALLER_ARRIVES, Event.SESSION_BEGUN, Event.TICK, Event.TICK,
					Event.TICK, Event.REQUEST_SENT, Event.REQUEST_EXECUTED, Event.ANSWER_RECEIVED, Event.TICK,
					Event.CHECK_SENT, Event.CHECK_EXECUTED, Event.CHECK_RECEIVED, Event.SERVER_DIES);
			case COUNTS_FROM_SENDING -> ofFirst(Event.CALLER_ARRIVES, Event.SESSION_BEGUN, Event.REQUEST_SENT,
					Event.REQUEST_EXECUTED, Event.TICK);
			case CLOCK_COUNTS_SUSPENSIONS -> ofFirst(Event.CALLER_ARRIVES, Event.SESSION_BEGUN, Event.REQUEST_SENT,
					Event.REQUEST_EXECUTED, Event.ANSWER_RECEIVED);
			default -> List.of();
		};
	}

	private static List<Step<Event>> ofFirst(Event... events) {
		return Stream.of(events).map((event) -> new Step<>(event, 0)).toList();
	}

	private static String consequence(Rule rule) {
		return switch (rule) {
			case REMOVAL_IS_FINAL, NODE_OF_PRESENT_SESSION, COUNTS_FROM_SENDING, CLOCK_COUNTS_SUSPENSIONS,
					PROOFS_ARE_APART ->
				"two holders";
			case SYNC, LOOKS_BEFORE_ADDING, PLACE_IS_ASKED_FOR -> "a waiter waits for ever";
			case LOSS_IS_TOLD -> "the loss of the lock is not told";
		};
	}

}
