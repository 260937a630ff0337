package io.github.lockspring.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockspring.history.Fleet.Member;
import io.github.lockspring.history.HistoryChecker.Violation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Several processes, many faults, a few locks: no two of them hold one at the same time,
 * and tokens grow. Short by default; at length with
 * {@code mvn -Phistory -pl lock-spring-boot-autoconfigure test}.
 */
class HistoryTests {

	/** How long faults are made. */
	private static final int SECONDS = Integer.getInteger("history.seconds", 0);

	private static final long SEED = Long.getLong("history.seed", System.nanoTime());

	private static final String KINDS = System.getProperty("history.faults", "");

	private static final int WORKERS = 3;

	private static final int KEYS = 3;

	private static final int THREADS = 6;

	/**
	 * Much longer than it should take, since the machine may be busy with other things.
	 */
	private static final Duration RECOVERY = Duration.ofSeconds(30);

	/** A few faults that cost little time. */
	private static final Set<FaultKind> SHORT = EnumSet.of(FaultKind.WORKER_KILLED, FaultKind.WORKER_STOPPED,
			FaultKind.CONNECTIONS_CUT, FaultKind.BYTES_LOST, FaultKind.CLIENTS_KILLED, FaultKind.SCRIPTS_FLUSHED,
			FaultKind.SERVER_RESTARTED_EMPTY);

	private final Path directory = Path.of("target", "history");

	@BeforeEach
	void emptyDirectory() throws IOException {
		Files.createDirectories(this.directory);
		try (Stream<Path> files = Files.list(this.directory)) {
			files.forEach((file) -> file.toFile().delete());
		}
	}

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	void noTwoHoldersOverlapAndTokensGrowWhateverFails() throws Exception {
		System.out.println("History test with seed " + SEED);
		try (Fleet fleet = new Fleet(this.directory, SEED, WORKERS, KEYS, THREADS)) {
			Faults faults = new Faults(fleet, SEED);
			make(faults);
			Duration recovery = awaitProgress(fleet);
			fleet.stopWorkers();
			RecordedEvents events = RecordedEvents.read(fleet.files());
			System.out.println(figures(events, faults, recovery));
			List<Violation> violations = HistoryChecker.check(events.holds(), events.acquisitions(), fleet.losses);
			assertThat(violations).withFailMessage(() -> Report.of(violations, events, fleet, faults, SEED)).isEmpty();
			assertThat(events.faults()).isEmpty();
			assertThat(events.holds().stream().filter(RecordedHold::wasValid)).hasSizeGreaterThan(30);
			assertOnlySiblingsAreLeft(fleet);
		}
	}

	private static void make(Faults faults) throws Exception {
		if (SECONDS == 0) {
			faults.make(SHORT, Duration.ofSeconds(8), 2);
			return;
		}
		Set<FaultKind> kinds = KINDS.isEmpty() ? FaultKind.ALL
				: Stream.of(KINDS.split(",")).map(FaultKind::valueOf).collect(Collectors.toSet());
		// half of the time one kind after the other, half of it all of them together
		Duration each = Duration.ofSeconds(SECONDS).dividedBy(2L * kinds.size());
		for (FaultKind kind : kinds) {
			faults.make(Set.of(kind), each, 1);
		}
		faults.make(kinds, Duration.ofSeconds(SECONDS).dividedBy(2), 2);
	}

	/** When nothing fails any more, each worker gets each key again. */
	private static Duration awaitProgress(Fleet fleet) throws Exception {
		long calm = System.nanoTime();
		for (Member member : fleet.members) {
			List<Integer> before = member.progress();
			List<Boolean> missing = new ArrayList<>();
			await("each key for " + member.worker.name()).atMost(RECOVERY).until(() -> {
				List<Integer> now = member.progress();
				missing.clear();
				for (int i = 0; i < now.size(); i++) {
					missing.add(now.get(i) <= before.get(i));
				}
				return !missing.contains(true);
			});
		}
		return Duration.ofNanos(System.nanoTime() - calm);
	}

	/**
	 * All locks are free or end by themselves, and what is beside them has an end too.
	 */
	private static void assertOnlySiblingsAreLeft(Fleet fleet) {
		await().atMost(RECOVERY)
			.untilAsserted(() -> assertThat(fleet.server.keys())
				.allMatch((key) -> key.matches("\\{lock:k\\d}:(fence|queue)")));
		assertThat(fleet.server.keys()).allSatisfy((key) -> assertThat(fleet.server.pttl(key)).isPositive());
	}

	private static String figures(RecordedEvents events, Faults faults, Duration recovery) {
		long valid = events.holds().stream().filter(RecordedHold::wasValid).count();
		return "Holds: " + events.holds().size() + ", " + valid + " of them valid; " + events.counts() + "\nFaults: "
				+ faults.counts() + "\nEach worker had each key again after " + recovery.toMillis() + " ms";
	}

}
