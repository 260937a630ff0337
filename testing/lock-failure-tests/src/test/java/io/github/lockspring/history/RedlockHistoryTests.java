package io.github.lockspring.history;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.testsupport.history.RecordedEvents;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several processes lock on five independent servers while one or two of these fail.
 * Short by default; at length with
 * {@code mvn -Ptopologies -pl lock-failure-tests -am test}.
 */
class RedlockHistoryTests {

	private static final List<String> KEYS = List.of("k0", "k1", "k2");

	/** Short, since a node that was started again has no vote for as long. */
	private static final List<Integer> TTLS = List.of(400, 700, 1500);

	private static final List<FaultKind> FAULTS = List.of(FaultKind.NODE_FORGETS, FaultKind.NODES_STOPPED,
			FaultKind.NODES_CUT_OFF, FaultKind.NODES_KILLED, FaultKind.NODES_SLOW, FaultKind.CLIENTS_KILLED,
			FaultKind.SCRIPTS_FLUSHED);

	private static final List<FaultKind> BESIDE = List.of(FaultKind.WORKER_KILLED, FaultKind.WORKER_STOPPED,
			FaultKind.CONNECTIONS_CUT, FaultKind.CONNECTIONS_REFUSED, FaultKind.BYTES_LOST, FaultKind.BYTES_LATE);

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	void f14NoTwoHoldersOverlapWhateverFailsOnTwoOfFiveServers() throws Exception {
		try (HistoryRun run = new HistoryRun("redlock", new IndependentServers(false), HistoryRun.workers(), KEYS,
				TTLS)) {
			run.faults().makeInTurn(FAULTS, HistoryRun.roundsOrFew(2), BESIDE);
			RecordedEvents events = run.end();
			run.assertRight(events, List.of());
			assertThat(events.holds()).hasSizeGreaterThan(10 * HistoryRun.roundsOrFew(2));
			run.assertOnlySiblingsAreLeft();
		}
	}

	/**
	 * So that we know that the other test can fail: the same without the rule that a
	 * server which was just started has no vote.
	 */
	@Test
	@EnabledIfSystemProperty(named = HistoryRun.ROUNDS, matches = "[1-9]\\d*")
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	void f14ServersThatAreTrustedToRememberGrantALockTwice() throws Exception {
		try (HistoryRun run = new HistoryRun("redlock-trusting", new IndependentServers(true), HistoryRun.workers(),
				KEYS, TTLS)) {
			for (int i = 0; i < HistoryRun.MOST_NEEDED && !run.hasSeenTwoHolders(); i++) {
				run.faults().makeInTurn(List.of(FaultKind.NODE_FORGETS), 1, List.of(FaultKind.WORKER_STOPPED));
			}
			assertThat(run.hasSeenTwoHolders()).isTrue();
		}
	}

}
