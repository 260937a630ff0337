package io.github.lockspring.history;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Several processes, many faults, a few locks on one server: no two of them hold one at
 * the same time, and tokens grow. Short by default; at length with
 * {@code mvn -Phistory -pl lock-failure-tests -am test}.
 */
class HistoryTests {

	/** How long faults are made. */
	private static final int SECONDS = Integer.getInteger("history.seconds", 0);

	private static final String KINDS = System.getProperty("history.faults", "");

	private static final int WORKERS = 3;

	private static final List<String> KEYS = List.of("k0", "k1", "k2");

	private static final List<Integer> TTLS = List.of(400, 700, 1500);

	/** A few faults that cost little time. */
	private static final Set<FaultKind> SHORT = EnumSet.of(FaultKind.WORKER_KILLED, FaultKind.WORKER_STOPPED,
			FaultKind.CONNECTIONS_CUT, FaultKind.BYTES_LOST, FaultKind.CLIENTS_KILLED, FaultKind.SCRIPTS_FLUSHED,
			FaultKind.SERVER_RESTARTED_EMPTY);

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	void noTwoHoldersOverlapAndTokensGrowWhateverFails() throws Exception {
		try (HistoryRun run = new HistoryRun("single", new Servers.SingleServer(), WORKERS, KEYS, TTLS)) {
			make(run.faults(), EnumSet.range(FaultKind.WORKER_KILLED, FaultKind.SERVER_STOPPED));
			run.assertRight(run.end(), run.losses());
			run.assertOnlySiblingsAreLeft();
		}
	}

	private static void make(Faults faults, Set<FaultKind> all) throws Exception {
		if (SECONDS == 0) {
			faults.make(SHORT, Duration.ofSeconds(8), 2);
			return;
		}
		Set<FaultKind> kinds = KINDS.isEmpty() ? all
				: Stream.of(KINDS.split(",")).map(FaultKind::valueOf).collect(Collectors.toSet());
		// half of the time one kind after the other, half of it all of them together
		Duration each = Duration.ofSeconds(SECONDS).dividedBy(2L * kinds.size());
		for (FaultKind kind : kinds) {
			faults.make(Set.of(kind), each, 1);
		}
		faults.make(kinds, Duration.ofSeconds(SECONDS).dividedBy(2), 2);
	}

}
