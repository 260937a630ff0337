package io.github.lockspring.history;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.testsupport.history.History;
import io.github.lockspring.testsupport.history.WorkerFault;
import io.github.lockspring.testsupport.history.RecordedEvents;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several processes lock on five independent servers while one or two of these fail.
 * Short by default; at length with
 * {@code mvn -Ptopologies -pl :lock-failure-tests -am test}.
 */
class RedlockHistoryTests {

	/** Short, since a node that was started again has no vote for as long. */
	private static final List<Integer> TTLS = List.of(400, 700, 1500);

	private static final List<RedisFault> FAULTS = List.of(RedisFault.NODE_FORGETS, RedisFault.NODES_STOPPED,
			RedisFault.NODES_CUT_OFF, RedisFault.NODES_KILLED, RedisFault.NODES_SLOW, RedisFault.CLIENTS_KILLED,
			RedisFault.SCRIPTS_FLUSHED);

	private static final List<WorkerFault> BESIDE = List.of(WorkerFault.values());

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	@Tag("one-holder-failing-servers")
	void f14NoTwoHoldersOverlapWhateverFailsOnTwoOfFiveServers() throws Exception {
		try (History run = new History("redlock", new IndependentServers(), History.workers(), TTLS)) {
			run.faults().makeInTurn(FAULTS, History.roundsOrFew(2), BESIDE);
			RecordedEvents events = run.end();
			run.assertRight(events, List.of());
			assertThat(events.holds()).hasSizeGreaterThan(10 * History.roundsOrFew(2));
		}
	}

}
