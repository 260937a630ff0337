package io.github.lockspring.model.etcd;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import io.github.lockspring.model.Explorer;
import io.github.lockspring.model.Explorer.Exploration;
import io.github.lockspring.model.Step;
import io.github.lockspring.model.Trace;
import io.github.lockspring.model.etcd.Scenario.Option;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Switches each rule off, and sees the model find what goes wrong without it. The
 * shortest way there is written to {@code target/traces}.
 */
class EntriesRuleTests {

	private static final Path TRACES = Path.of("target", "traces");

	private static final int MAX_STATES = 200_000;

	private static final int A = 0;

	private static final int B = 1;

	/** With two locks, the places of the first instance and that of the second. */
	private static final int A_FIRST = 0;

	private static final int A_SECOND = 1;

	private static final int B_FIRST = 2;

	private static final String TWO_HOLDERS = "two holders";

	private static final String STAYS = "an entry stays for ever";

	private static final String WAITS = "a waiter waits for ever";

	private static final String FALSE_LOSS = "a lease that lives is taken for lost";

	@ParameterizedTest
	@EnumSource(Rule.class)
	void modelFindsWhatGoesWrongWithoutARule(Rule rule) throws IOException {
		assertFinds(rule, "", scenario(rule), start(rule), consequence(rule));
	}

	@Test
	void leaseThatIsRevokedWithOneLockTakesAnotherAway() throws IOException {
		assertFinds(Rule.REVOKED_AT_THE_END_ONLY, "-of-two-locks", twoLocks(2, 1),
				path(holdsBoth(), at(B_FIRST, Event.CALLER_ARRIVES),
						of(B, Event.LEASE_ASKED, Event.RENEWAL_EXECUTED, Event.RENEWAL_RECEIVED)),
				TWO_HOLDERS);
	}

	private static void assertFinds(Rule rule, String suffix, Scenario scenario, List<Step<Event>> start,
			String consequence) throws IOException {
		Exploration<Event> without = explore(scenario.without(rule), start, MAX_STATES);
		Trace<Event> found = without.violation();
		assertThat(found).as(rule + ": " + without).isNotNull();
		Files.createDirectories(TRACES);
		String name = "etcd-" + rule.name().toLowerCase(Locale.ROOT).replace('_', '-') + suffix;
		Files.writeString(TRACES.resolve(name + ".txt"), found.toString());
		assertThat(found.what()).as(found.toString()).isEqualTo(consequence);
		Exploration<Event> with = explore(scenario, start, without.states());
		assertThat(with.violation()).as(rule + ": " + with).isNull();
	}

	private static Exploration<Event> explore(Scenario scenario, List<Step<Event>> start, int maxStates) {
		return Explorer.explore(new World(scenario), new FairRuns(scenario), start, maxStates);
	}

	private static Scenario scenario(Rule rule) {
		Scenario two = Scenario.of(2, 1, 1);
		Scenario renewed = two.with(Option.RENEWALS);
		return switch (rule) {
			case REMOVAL_COMPARES_REVISION -> Scenario.of(2, 2, 1).with(Fault.LOSS, 1);
			case REMOVAL_IS_FINAL -> two.with(Fault.LOSS, 1);
			case ADDITION_COMPARES_GUARD, GUARD_BEFORE_FORGETTING, GUARD_WITH_A_LOOK ->
				two.with(Fault.LOSS, 1).with(Option.GIVING_UP);
			case REPEATED_IS_UNANSWERED -> two.with(Fault.REPETITION, 1);
			case EARLIEST_OF_HOLD_AND_LEASE, COUNTS_FROM_SENDING -> two;
			case CLOCK_COUNTS_SUSPENSIONS -> two.with(Fault.SUSPENSION, 1);
			case SAME_TERM, LEASE_OF_THE_REQUEST -> renewed.with(Fault.LEADER, 1);
			case ADOPTED_WHICHEVER_IS_NAMED -> two.with(Option.TWO_LENGTHS).with(Fault.LOSS, 2);
			case ADOPTED_WITH_PRESENT_LEASE -> renewed.with(Fault.LEADER, 1).with(Fault.LOSS, 1);
			case GUARD_PROVES_LEASE -> Scenario.of(2, 1, 2).with(Option.RENEWALS).with(Fault.RENEWED_AFTER_END, 1);
			case RENEWAL_OF_THIS_ENTRY -> Scenario.of(1, 2, 2).with(Option.RENEWALS);
			case LOSS_IS_TOLD -> two.with(Fault.BY_HAND, 1);
			case REMOVED_AT_ITS_END -> two.with(Fault.HANG, 1);
			case PLACE_IS_ASKED_FOR -> two.with(Fault.WATCH, 1);
			case WATCH_COMPARES_REVISION -> Scenario.of(2, 2, 1).without(Rule.PLACE_IS_ASKED_FOR);
			case REVOKED_AT_THE_END_ONLY -> Scenario.of(2, 2, 1);
			case RAISE_COUNTS_BOTH -> renewed.with(Option.RAISES);
			case RAISE_COMPARES_MODIFICATION ->
				Scenario.of(2, 1, 2).with(Option.RAISES).with(Option.KEEPS).with(Fault.LOSS, 1);
			case GUARD_IS_NAMED_AFTER_LEASE -> renewed.with(Fault.LOSS, 1);
			case PROOF_COMPARES_LEASE -> Scenario.of(2, 1, 2)
				.with(Option.RENEWALS)
				.with(Option.FALSE_LOSSES)
				.with(Fault.LOSS, 1)
				.with(Fault.RENEWED_AFTER_END, 1)
				.without(Rule.GUARD_IS_NAMED_AFTER_LEASE);
			case RESTORE_IS_NOTICED -> two.with(Fault.RESTORE, 1);
			case PAST_BEFORE_SENDING -> renewed.with(Fault.RESTORE, 1);
			case GUARD_SETTLES_ITS_TOKEN, MOVED_GUARD_IS_NO_LOSS, RAISE_OF_ITS_ENTRY -> scenarioOfTwoLocks(rule);
		};
	}

	private static Scenario scenarioOfTwoLocks(Rule rule) {
		Scenario alone = twoLocks(1, 1).with(Option.GIVING_UP);
		return switch (rule) {
			case GUARD_SETTLES_ITS_TOKEN -> alone.with(Fault.LOSS, 2);
			case MOVED_GUARD_IS_NO_LOSS -> alone.with(Fault.LOSS, 1);
			default -> twoLocks(2, 2).with(Option.RAISES);
		};
	}

	private static Scenario twoLocks(int instances, int ttl) {
		return Scenario.of(instances, 1, ttl).withLocks(2).with(Option.ONE_RIVALRY);
	}

	/** The steps of a long way that a search need not find. */
	private static List<Step<Event>> start(Rule rule) {
		return switch (rule) {
			case GUARD_PROVES_LEASE -> path(hasLease(A), of(A, Event.TICK, Event.REQUEST_SENT, Event.REQUEST_EXECUTED));
			case LEASE_OF_THE_REQUEST ->
				path(hasLease(A), of(A, Event.REQUEST_SENT, Event.REQUEST_EXECUTED, Event.TICK), hasLease(B));
			case ADOPTED_WITH_PRESENT_LEASE -> path(hasLease(A),
					of(A, Event.REQUEST_SENT, Event.ANSWER_LOST, Event.TICK), hasLease(B), of(A, Event.LEADER_REPLACED,
							Event.KEEP_ALIVE_SENT, Event.FORMER_LEADER_KNOWS_NO_LEASE, Event.RENEWAL_RECEIVED));
			case ADOPTED_WHICHEVER_IS_NAMED -> path(hasLease(A),
					of(A, Event.REQUEST_SENT, Event.ANSWER_LOST, Event.OTHER_LENGTH, Event.OTHER_LEASE_ASKED,
							Event.RENEWAL_EXECUTED, Event.RENEWAL_RECEIVED, Event.REQUEST_SENT, Event.REQUEST_EXECUTED),
					hasLease(B));
			case RAISE_COUNTS_BOTH -> path(holds(A),
					of(A, Event.LONGER_LEASE_ASKED, Event.RENEWAL_EXECUTED, Event.RENEWAL_RECEIVED, Event.TICK),
					hasLease(B));
			case PROOF_COMPARES_LEASE -> path(of(A, Event.CALLER_ARRIVES, Event.LEASE_ASKED, Event.RENEWAL_TIMES_OUT,
					Event.LEASE_ASKED, Event.RENEWAL_EXECUTED, Event.RENEWAL_RECEIVED, Event.TICK, Event.REQUEST_SENT,
					Event.REQUEST_EXECUTED, Event.LATE_REQUEST_EXECUTED));
			case SAME_TERM -> path(holds(A), of(A, Event.TICK, Event.LEADER_REPLACED), hasLease(B));
			case RAISE_COMPARES_MODIFICATION ->
				path(holds(A), of(A, Event.LONGER_LEASE_ASKED, Event.RENEWAL_EXECUTED, Event.RENEWAL_RECEIVED));
			case RESTORE_IS_NOTICED -> path(holds(A), of(B, Event.CALLER_ARRIVES));
			case PAST_BEFORE_SENDING -> path(hasLease(A),
					of(A, Event.REQUEST_SENT, Event.REQUEST_EXECUTED, Event.BACKED_UP, Event.RESTORED, Event.TICK));
			case RAISE_OF_ITS_ENTRY ->
				path(holdsBoth(), of(A, Event.LONGER_LEASE_ASKED, Event.RENEWAL_EXECUTED, Event.RENEWAL_RECEIVED),
						at(A_SECOND, Event.REQUEST_EXECUTED, Event.ANSWER_RECEIVED, Event.TICK),
						at(B_FIRST, Event.CALLER_ARRIVES),
						of(B, Event.LEASE_ASKED, Event.RENEWAL_EXECUTED, Event.RENEWAL_RECEIVED));
			default -> List.of();
		};
	}

	private static List<Step<Event>> hasLease(int instance) {
		return of(instance, Event.CALLER_ARRIVES, Event.LEASE_ASKED, Event.RENEWAL_EXECUTED, Event.RENEWAL_RECEIVED);
	}

	private static List<Step<Event>> holds(int instance) {
		return path(hasLease(instance),
				of(instance, Event.REQUEST_SENT, Event.REQUEST_EXECUTED, Event.ANSWER_RECEIVED));
	}

	/** With two locks: the first instance holds both. */
	private static List<Step<Event>> holdsBoth() {
		return path(at(A_FIRST, Event.CALLER_ARRIVES), at(A_SECOND, Event.CALLER_ARRIVES),
				of(A, Event.LEASE_ASKED, Event.RENEWAL_EXECUTED, Event.RENEWAL_RECEIVED),
				at(A_FIRST, Event.REQUEST_SENT, Event.REQUEST_EXECUTED, Event.ANSWER_RECEIVED),
				at(A_SECOND, Event.REQUEST_SENT, Event.REQUEST_EXECUTED, Event.ANSWER_RECEIVED));
	}

	/** What happens to an instance, and with one lock to its place. */
	private static List<Step<Event>> of(int instance, Event... events) {
		return Stream.of(events)
			.map((event) -> new Step<>(event,
					(event.scope() == Event.Scope.INSTANCE || event.scope() == Event.Scope.PLACE) ? instance : 0))
			.toList();
	}

	/** What happens at a place. */
	private static List<Step<Event>> at(int place, Event... events) {
		return Stream.of(events)
			.map((event) -> new Step<>(event, (event.scope() == Event.Scope.PLACE) ? place : 0))
			.toList();
	}

	@SafeVarargs
	private static List<Step<Event>> path(List<Step<Event>>... parts) {
		List<Step<Event>> all = new ArrayList<>();
		for (List<Step<Event>> part : parts) {
			all.addAll(part);
		}
		return all;
	}

	private static String consequence(Rule rule) {
		return switch (rule) {
			case REMOVAL_COMPARES_REVISION, REMOVAL_IS_FINAL, EARLIEST_OF_HOLD_AND_LEASE, COUNTS_FROM_SENDING,
					CLOCK_COUNTS_SUSPENSIONS, SAME_TERM, GUARD_PROVES_LEASE, LEASE_OF_THE_REQUEST,
					ADOPTED_WITH_PRESENT_LEASE, ADOPTED_WHICHEVER_IS_NAMED, REVOKED_AT_THE_END_ONLY, RAISE_COUNTS_BOTH,
					PROOF_COMPARES_LEASE, RAISE_OF_ITS_ENTRY ->
				TWO_HOLDERS;
			case ADDITION_COMPARES_GUARD, GUARD_BEFORE_FORGETTING, GUARD_WITH_A_LOOK, REPEATED_IS_UNANSWERED,
					RENEWAL_OF_THIS_ENTRY, RAISE_COMPARES_MODIFICATION, GUARD_SETTLES_ITS_TOKEN ->
				STAYS;
			case LOSS_IS_TOLD -> "the loss of the lock is not told";
			case REMOVED_AT_ITS_END -> STAYS;
			case PLACE_IS_ASKED_FOR, WATCH_COMPARES_REVISION, RESTORE_IS_NOTICED -> WAITS;
			case GUARD_IS_NAMED_AFTER_LEASE, PAST_BEFORE_SENDING, MOVED_GUARD_IS_NO_LOSS -> FALSE_LOSS;
		};
	}

}
