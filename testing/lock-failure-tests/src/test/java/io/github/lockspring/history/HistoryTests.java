package io.github.lockspring.history;

import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.lockspring.testsupport.history.Fault;
import io.github.lockspring.testsupport.history.History;
import io.github.lockspring.testsupport.history.WorkerFault;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Several processes, many faults, a few locks on one server: no two of them hold one at
 * the same time, and tokens grow. Short by default; at length with
 * {@code mvn -Phistory -pl :lock-failure-tests -am test}.
 */
class HistoryTests {

	private static final int WORKERS = 3;

	private static final List<Integer> TTLS = List.of(400, 700, 1500);

	/** A few faults that cost little time. */
	private static final List<Fault> FEW = List.of(WorkerFault.WORKER_KILLED, WorkerFault.WORKER_STOPPED,
			WorkerFault.CONNECTIONS_CUT, WorkerFault.BYTES_LOST, RedisFault.CLIENTS_KILLED, RedisFault.SCRIPTS_FLUSHED,
			RedisFault.SERVER_RESTARTED_EMPTY);

	private static final List<Fault> ALL = Stream
		.<Fault>concat(Stream.of(WorkerFault.values()),
				EnumSet.range(RedisFault.CLIENTS_KILLED, RedisFault.SERVER_STOPPED).stream())
		.toList();

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	@Tag("one-holder")
	void noTwoHoldersOverlapAndTokensGrowWhateverFails() throws Exception {
		try (History run = new History("single", new SingleServer(), WORKERS, TTLS)) {
			run.makeFaults(FEW, ALL);
			run.assertRight(run.end(), run.losses());
		}
	}

}
