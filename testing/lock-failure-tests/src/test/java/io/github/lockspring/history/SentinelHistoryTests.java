package io.github.lockspring.history;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.testsupport.history.History;
import io.github.lockspring.testsupport.history.WorkerFault;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several processes lock behind Sentinel while masters are killed and stopped. Short by
 * default; a hundred failovers with
 * {@code mvn -Ptopologies -pl :lock-failure-tests -am test}.
 */
class SentinelHistoryTests {

	/** The longer ones outlast a failover. */
	private static final List<Integer> TTLS = List.of(800, 3000);

	/**
	 * Outlast a failover on a busy machine too, and so does most long work under them.
	 */
	private static final List<Integer> LONG_TTLS = List.of(10_000);

	private static final List<RedisFault> FAILOVERS = List.of(RedisFault.MASTER_KILLED_AHEAD, RedisFault.MASTER_STOPPED,
			RedisFault.MASTER_KILLED, RedisFault.MASTER_AND_SENTINEL_STOPPED);

	private static final List<WorkerFault> BESIDE = List.of(WorkerFault.WORKER_KILLED, WorkerFault.WORKER_STOPPED);

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	@Tag("one-holder-failing-servers")
	@Tag("promotion-acknowledged")
	void f11NoTwoHoldersOverlapWhenBothReplicasMustHaveTheLock() throws Exception {
		try (History run = new History("sentinel-acknowledged", new SentinelServers(true), History.workers(), TTLS)) {
			run.faults().makeInTurn(FAILOVERS, History.roundsOrFew(1), BESIDE);
			// no excuses: what was granted is on every server that may be promoted
			run.assertRight(run.end(), List.of());
		}
	}

	/**
	 * So that we know that the other test can fail: the same without acknowledgements.
	 * Tokens grow all the same, so that whoever compares them refuses the late writer.
	 */
	@Test
	@EnabledIfSystemProperty(named = History.ROUNDS, matches = "[1-9]\\d*")
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	void f11WithoutAcknowledgementsThereAreTwoHoldersAfterAFailoverAndTokensGrow() throws Exception {
		try (History run = new History("sentinel", new SentinelServers(false), History.workers(), LONG_TTLS)) {
			for (int i = 0; i < History.MOST_NEEDED && !run.hasSeenTwoHolders(); i++) {
				run.faults().makeInTurn(List.of(RedisFault.MASTER_KILLED_AHEAD), 1, BESIDE);
			}
			assertThat(run.hasSeenTwoHolders()).isTrue();
			run.assertRight(run.end(), run.losses());
		}
	}

}
