package io.github.lockspring.history;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.testsupport.history.Fault;
import io.github.lockspring.testsupport.history.History;
import io.github.lockspring.testsupport.history.WorkerFault;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Several processes lock on a cluster while slots are moved and masters killed and
 * stopped. Short by default; at length with
 * {@code mvn -Ptopologies -pl :lock-failure-tests -am test}.
 */
class ClusterHistoryTests {

	/** Of the locks' names, {@code CLUSTER KEYSLOT lock:k0}. */
	private static final List<Integer> SLOTS = List.of(10318, 14447, 2060);

	/** The longer ones outlast a failover. */
	private static final List<Integer> TTLS = List.of(800, 3000);

	private static final List<RedisFault> FAULTS = List.of(RedisFault.SLOT_MOVED, RedisFault.MASTER_KILLED,
			RedisFault.SLOT_MOVED, RedisFault.MASTER_STOPPED);

	private static final List<Fault> BESIDE = List.of(WorkerFault.WORKER_KILLED, WorkerFault.WORKER_STOPPED,
			RedisFault.SCRIPTS_FLUSHED);

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	@Tag("cluster-lost-lock")
	void f11HistoryOfLocksOnAClusterIsRightExceptAcrossFailovers() throws Exception {
		try (History run = new History("cluster", new ClusterServers(SLOTS), History.workers(), TTLS)) {
			run.faults().makeInTurn(FAULTS, History.roundsOrFew(1), BESIDE);
			run.assertRight(run.end(), run.losses());
		}
	}

	/** Without a failover there are no excuses. */
	@Test
	@EnabledIfSystemProperty(named = History.ROUNDS, matches = "[1-9]\\d*")
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	@Tag("one-holder-failing-servers")
	void historyOfLocksWhoseSlotsMoveIsRight() throws Exception {
		try (History run = new History("cluster-slots", new ClusterServers(SLOTS), History.workers(), TTLS)) {
			run.faults().makeInTurn(List.of(RedisFault.SLOT_MOVED), History.roundsOrFew(3), BESIDE);
			run.assertRight(run.end(), List.of());
		}
	}

}
