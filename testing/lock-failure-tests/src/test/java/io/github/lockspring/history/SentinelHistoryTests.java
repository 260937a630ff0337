package io.github.lockspring.history;

import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several processes lock behind Sentinel while masters are killed and stopped. Short by
 * default; a hundred failovers with
 * {@code mvn -Ptopologies -pl lock-failure-tests -am test}.
 */
class SentinelHistoryTests {

	private static final List<String> KEYS = List.of("k0", "k1", "k2");

	/** The longer ones outlast a failover. */
	private static final List<Integer> TTLS = List.of(800, 3000);

	private static final List<FaultKind> FAILOVERS = List.of(FaultKind.MASTER_KILLED_AHEAD, FaultKind.MASTER_STOPPED,
			FaultKind.MASTER_KILLED, FaultKind.MASTER_STOPPED);

	private static final List<FaultKind> BESIDE = List.of(FaultKind.WORKER_KILLED, FaultKind.WORKER_STOPPED);

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	void f11NoTwoHoldersOverlapWhenBothReplicasMustHaveTheLock() throws Exception {
		try (HistoryRun run = new HistoryRun("sentinel-acknowledged", new SentinelServers(true), HistoryRun.workers(),
				KEYS, TTLS)) {
			run.faults().makeInTurn(FAILOVERS, HistoryRun.roundsOrFew(1), BESIDE);
			// no excuses: what was granted is on every server that may be promoted
			run.assertRight(run.end(), List.of());
			run.assertOnlySiblingsAreLeft();
		}
	}

	/**
	 * So that we know that the other test can fail: the same without acknowledgements.
	 * Tokens grow all the same, so that whoever compares them refuses the late writer.
	 */
	@Test
	@EnabledIfSystemProperty(named = HistoryRun.ROUNDS, matches = "[1-9]\\d*")
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	void f11WithoutAcknowledgementsThereAreTwoHoldersAfterAFailoverAndTokensGrow() throws Exception {
		try (HistoryRun run = new HistoryRun("sentinel", new SentinelServers(false), HistoryRun.workers(), KEYS,
				TTLS)) {
			for (int i = 0; i < HistoryRun.MOST_NEEDED && !run.hasSeenTwoHolders(); i++) {
				run.faults().makeInTurn(List.of(FaultKind.MASTER_KILLED_AHEAD), 1, BESIDE);
			}
			assertThat(run.hasSeenTwoHolders()).isTrue();
			run.assertRight(run.end(), run.losses());
			run.assertOnlySiblingsAreLeft();
		}
	}

}
