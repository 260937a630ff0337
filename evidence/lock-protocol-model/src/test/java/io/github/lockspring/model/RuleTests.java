package io.github.lockspring.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.github.lockspring.model.Explorer.Exploration;
import io.github.lockspring.model.Scenario.Fault;
import io.github.lockspring.model.Scenario.Option;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Switches each rule off, and sees the model find what goes wrong without it. The
 * shortest way there is written to {@code target/traces}.
 */
class RuleTests {

	private static final Path TRACES = Path.of("target", "traces");

	private static final int MAX_STATES = 200_000;

	private static final String TWO_HOLDERS = "two valid holders";

	private static final String TOKEN = "the fencing token does not grow";

	private static final String OVER = "work starts on a lease that is over";

	private static final String IDLE = "the lock is idle for ";

	private static final String FOR_EVER = "a waiter waits for ever";

	@ParameterizedTest
	@EnumSource(Rule.class)
	void modelFindsWhatGoesWrongWithoutARule(Rule rule) throws IOException {
		Scenario scenario = scenario(rule);
		Exploration<Event> without = Explorer.explore(scenario.without(rule), start(rule), MAX_STATES);
		Trace<Event> found = without.violation();
		assertThat(found).as(rule + ": " + without).isNotNull();
		Files.createDirectories(TRACES);
		Files.writeString(TRACES.resolve(rule.anchor() + ".txt"), found.toString());
		assertThat(found.what()).as(found.toString()).startsWith(consequence(rule));
		Exploration<Event> with = Explorer.explore(scenario, start(rule), without.states());
		assertThat(with.violation()).as(rule + ": " + with).isNull();
	}

	@Test
	void pageNamesTheseRules() throws IOException {
		List<String> rows = Files.readAllLines(Path.of("..", "..", "docs", "understand", "protocol-rules.md"))
			.stream()
			.filter((line) -> line.startsWith("| <a id=\"rule-") && line.endsWith("| model |"))
			.toList();
		assertThat(rows).hasSameSizeAs(Rule.values());
		for (Rule rule : Rule.values()) {
			assertThat(rows).anyMatch((row) -> row.startsWith("| <a id=\"" + rule.anchor() + "\"></a>" + rule + " |"));
		}
	}

	private static Scenario scenario(Rule rule) {
		Scenario one = Scenario.of(Role.WAITS, Role.WAITS).with(Option.EXACT_COUNT).withOwnerships(1);
		Scenario two = one.withOwnerships(2);
		return switch (rule) {
			case COUNTS_FROM_SENDING, LATE_RESULT -> one;
			case RELEASE_COMPARES_OWNER, KNOWN_TOKENS_ARE_NOT_RELEASED, GRANT_IS_NEW, GRANT_COUNTS_FROM_ATTEMPT,
					GRANT_NEEDS_RESULT ->
				two;
			case GRANT_OF_THIS_TOKEN -> two.with(Option.GIVING_UP);
			case DEADLINE_IS_FINAL -> Scenario.of(Role.NO_INBOX, Role.NO_INBOX)
				.withOwnerships(1)
				.with(Fault.LOSS, 1)
				.with(Option.RENEWALS)
				.withHandoffs(1);
			case SHORT_GRANT,
					SHORT_GRANT_IS_FOUND ->
				Scenario.of(Role.WAITS, Role.WAITS, Role.NO_INBOX)
					.with(Option.EXACT_COUNT, Option.CONTENDED)
					.withOwnerships(1)
					.withMaxIdle(1);
			case NO_INBOX_ASSUMES_OTHERS -> Scenario.of(Role.BUSY_NO_INBOX, Role.WAITS)
				.with(Option.EXACT_COUNT, Option.RENEWALS)
				.withOwnerships(1)
				.withHandoffs(4)
				.withFairRuns(1, 2);
			case OWN_TOKEN -> Scenario.of(Role.NO_INBOX, Role.NO_INBOX).withOwnerships(2).with(Fault.LOSS, 1);
			case COUNT_BEFORE_PUBLISHING -> two.with(Fault.LOSS, 1);
			case LATE_RESULT_IS_RELEASED,
					RELEASES_ARE_REPEATED ->
				Scenario.of(Role.WAITS, Role.NO_INBOX)
					.with(Option.EXACT_COUNT, Option.GIVING_UP)
					.with(Fault.LOSS, 1)
					.withOwnerships(1)
					.withMaxIdle(1);
			case WANTED_REPEATED -> Scenario.of(Role.BUSY, Role.WAITS)
				.with(Option.EXACT_COUNT, Option.RENEWALS)
				.with(Fault.LOSS, 1)
				.withOwnerships(1)
				.withHandoffs(4)
				.withFairRuns(1, 3);
			case ONE_COMMAND -> one.with(Fault.CRASH, 1).withMaxIdle(1);
			case GRANT_TTL -> two.with(Fault.CRASH, 1).withMaxIdle(1);
			case QUEUE, HAND_OVER -> one.withMaxIdle(0);
			case OWN_LOCK_IS_ACQUIRED, RETRY -> one.with(Fault.LOSS, 1).withMaxIdle(1);
			case WANTED, ORPHANS_ARE_RELEASED -> one.with(Fault.LOSS, 2).withMaxIdle(1);
			case RENEWAL_COMPARES_OWNER -> one.with(Option.RENEWALS);
			case NEVER_SHORTENED -> one.with(Option.RENEWALS, Option.SHORT_RENEWALS);
			case HAND_OFF_CHECKS_DEADLINE -> one.withHandoffs(1);
			case HAND_OFF_IS_BOUNDED -> Scenario.of(Role.BUSY, Role.WAITS)
				.with(Option.EXACT_COUNT, Option.RENEWALS)
				.withOwnerships(1)
				.withHandoffs(4)
				.withFairRuns(0, 2);
			case TOKEN_FROM_TIME -> one.with(Fault.DATA_LOSS, 1);
			case HAND_OFF_LIMIT -> one.with(Fault.DATA_LOSS, 1).withHandoffs(2);
			case ONE_BY_ONE -> two.with(Fault.DATA_LOSS, 1);
			case LAST_TOKEN_REPORTED, RELEASES_ARE_REGISTERED -> one.with(Fault.CLOCK, 1).withHandoffs(1);
		};
	}

	/** The steps of a long way that a search need not find. */
	private static List<Step<Event>> start(Rule rule) {
		return switch (rule) {
			case GRANT_OF_THIS_TOKEN -> List.of(new Step<>(Event.CALLER_ARRIVES, 0),
					new Step<>(Event.CALLER_ARRIVES, 1), new Step<>(Event.TICK, 0),
					new Step<>(Event.ATTEMPT_EXECUTED, 0), new Step<>(Event.ATTEMPT_EXECUTED, 1),
					new Step<>(Event.RESULT_RECEIVED, 0), new Step<>(Event.RESULT_RECEIVED, 1),
					new Step<>(Event.CALLER_GIVES_UP, 1), new Step<>(Event.MESSAGE_RECEIVED, 0),
					new Step<>(Event.TICK, 0), new Step<>(Event.CALLER_ARRIVES, 1), new Step<>(Event.LEASE_ENDS, 0),
					new Step<>(Event.CALLER_ARRIVES, 0));
			case DEADLINE_IS_FINAL -> List.of(new Step<>(Event.CALLER_ARRIVES, 0), new Step<>(Event.ATTEMPT_DOUBLED, 0),
					new Step<>(Event.RESULT_RECEIVED, 0), new Step<>(Event.TICK, 0),
					new Step<>(Event.CALLER_ARRIVES, 1), new Step<>(Event.RENEWAL_SENT, 0));
			case OWN_TOKEN -> List.of(new Step<>(Event.CALLER_ARRIVES, 0), new Step<>(Event.ATTEMPT_EXECUTED, 0),
					new Step<>(Event.RESULT_RECEIVED, 0), new Step<>(Event.HOLD_ENDS, 0));
			case COUNT_BEFORE_PUBLISHING -> List.of(new Step<>(Event.CALLER_ARRIVES, 0),
					new Step<>(Event.ATTEMPT_EXECUTED, 0), new Step<>(Event.RESULT_RECEIVED, 0),
					new Step<>(Event.CALLER_ARRIVES, 1), new Step<>(Event.ATTEMPT_EXECUTED, 1));
			case WANTED,
					ORPHANS_ARE_RELEASED ->
				List.of(new Step<>(Event.CALLER_ARRIVES, 0), new Step<>(Event.ATTEMPT_DOUBLED, 0),
						new Step<>(Event.RESULT_RECEIVED, 0), new Step<>(Event.HOLD_ENDS, 0),
						new Step<>(Event.COMMAND_EXECUTED, 1));
			default -> List.of();
		};
	}

	private static String consequence(Rule rule) {
		return switch (rule) {
			case OWN_TOKEN, RELEASE_COMPARES_OWNER, NEVER_SHORTENED, KNOWN_TOKENS_ARE_NOT_RELEASED,
					COUNTS_FROM_SENDING ->
				TWO_HOLDERS;
			case COUNT_BEFORE_PUBLISHING, GRANT_IS_NEW, GRANT_COUNTS_FROM_ATTEMPT, GRANT_NEEDS_RESULT, TOKEN_FROM_TIME,
					HAND_OFF_LIMIT, ONE_BY_ONE, LAST_TOKEN_REPORTED, RELEASES_ARE_REGISTERED ->
				TOKEN;
			case LATE_RESULT, HAND_OFF_CHECKS_DEADLINE -> OVER;
			case QUEUE, WANTED, HAND_OVER, GRANT_TTL, ORPHANS_ARE_RELEASED, LATE_RESULT_IS_RELEASED,
					RELEASES_ARE_REPEATED ->
				IDLE;
			case ONE_COMMAND -> "something is left in the store for ever";
			case OWN_LOCK_IS_ACQUIRED, RETRY -> FOR_EVER;
			case GRANT_OF_THIS_TOKEN -> TWO_HOLDERS;
			case DEADLINE_IS_FINAL -> TOKEN;
			case SHORT_GRANT, SHORT_GRANT_IS_FOUND -> "an instance starves";
			case NO_INBOX_ASSUMES_OTHERS -> "an owner keeps the lock for 3 ticks";
			case RENEWAL_COMPARES_OWNER -> "a renewal extends the lease of another owner";
			case WANTED_REPEATED -> "an owner keeps the lock for 4 ticks";
			case HAND_OFF_IS_BOUNDED -> "an owner keeps the lock for 3 ticks";
		};
	}

}
