package io.github.lockspring.testsupport.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockspring.testsupport.history.Fleet.Member;
import io.github.lockspring.testsupport.history.HistoryChecker.DataLoss;
import io.github.lockspring.testsupport.history.HistoryChecker.Kind;
import io.github.lockspring.testsupport.history.HistoryChecker.Violation;
import io.github.lockspring.testsupport.history.Servers.OneServer;
import io.github.lockspring.testsupport.process.RunDirectory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * One history: workers and servers that run from the beginning, faults, the end, and what
 * must be true of what was written down.
 *
 * @since 0.1
 */
public final class History implements AutoCloseable {

	private static final long SEED = Long.getLong("history.seed", System.nanoTime());

	/** The property with the number of faults of servers in a test of a topology. */
	public static final String ROUNDS = "lockspring.topology.rounds";

	/** A test that shows only that another one can fail gives up after so many. */
	public static final int MOST_NEEDED = 20;

	/** How long faults are made; a few seconds by default. */
	private static final int SECONDS = Integer.getInteger("history.seconds", 0);

	private static final String FAULTS = System.getProperty("history.faults", "");

	private static final int GIVEN = Integer.getInteger(ROUNDS, 0);

	/**
	 * Much longer than it should take, since the machine may be busy with other things.
	 */
	private static final Duration RECOVERY = Duration.ofMinutes(2);

	/** What happened so long before may have to do with it. */
	private static final long BEFORE = 4_000_000_000L;

	/** A history of fewer tells nothing. */
	private static final int FEWEST_HOLDS = 31;

	private final Fleet fleet;

	private final Faults faults;

	/**
	 * Starts the workers.
	 * @param name for the directory below {@link RunDirectory} {@code history}
	 * @param servers closed with this
	 * @param workers how many
	 * @param ttls the leases that they take, in milliseconds
	 */
	public History(String name, Servers servers, int workers, List<Integer> ttls) throws Exception {
		System.out.println("History test '" + name + "' with seed " + SEED);
		this.fleet = new Fleet(servers, emptyDirectory(name), SEED, workers, ttls);
		this.faults = new Faults(this.fleet, SEED);
		// on a busy machine, all faults could be over before anybody has locked
		awaitProgress();
	}

	/** Returns how many faults of servers a test of a topology makes. */
	public static int roundsOrFew(int few) {
		return (GIVEN > 0) ? GIVEN : few;
	}

	/** Returns how many processes lock in a test of a topology. */
	public static int workers() {
		return (GIVEN > 0) ? 4 : 2;
	}

	private static Path emptyDirectory(String name) throws IOException {
		Path directory = Files.createDirectories(RunDirectory.of("history").resolve(name));
		try (Stream<Path> files = Files.list(directory)) {
			files.forEach((file) -> file.toFile().delete());
		}
		return directory;
	}

	/** Makes faults in turn. */
	public Faults faults() {
		return this.faults;
	}

	/**
	 * Makes faults for some seconds, or for as many as {@code -Dhistory.seconds=300}
	 * says: half of the time one kind after the other, half of it all of them together.
	 * @param few those that cost little time
	 * @param all those of a long run
	 */
	public void makeFaults(List<? extends Fault> few, List<? extends Fault> all) throws Exception {
		if (SECONDS == 0) {
			this.faults.make(few, Duration.ofSeconds(8), 2);
			return;
		}
		List<? extends Fault> kinds = all.stream()
			.filter((fault) -> FAULTS.isEmpty() || List.of(FAULTS.split(",")).contains(fault.name()))
			.toList();
		Duration each = Duration.ofSeconds(SECONDS).dividedBy(2L * kinds.size());
		for (Fault kind : kinds) {
			this.faults.make(List.of(kind), each, 1);
		}
		this.faults.make(kinds, Duration.ofSeconds(SECONDS).dividedBy(2), 2);
	}

	/**
	 * Makes the faults of workers and of one server, and checks what happened.
	 * @param servers one server, which its caller closes
	 * @param ttls the leases that the workers take, in milliseconds
	 */
	public static void check(String name, OneServer servers, List<Integer> ttls) throws Exception {
		check(name, servers, OneServer.ServerFault.values(), ttls);
	}

	/**
	 * Makes the faults of workers and of a group of servers, and checks what happened.
	 * @param servers the servers, which their test closes
	 * @param ttls the leases that the workers take, in milliseconds
	 */
	public static void check(String name, ServerGroup servers, List<Integer> ttls) throws Exception {
		check(name, servers, ServerGroup.ServerFault.values(), ttls);
	}

	private static void check(String name, Servers servers, Fault[] ofServers, List<Integer> ttls) throws Exception {
		try (History history = new History(name, servers, 3, ttls)) {
			List<Fault> faults = new ArrayList<>(List.of(WorkerFault.values()));
			faults.addAll(List.of(ofServers));
			history.makeFaults(faults, faults);
			history.assertRight(history.end(), history.losses());
		}
	}

	/** When data was lost, or may have been. */
	public Collection<DataLoss> losses() {
		return this.fleet.losses;
	}

	/**
	 * Ends the workers when each of them has had each key again, and there is enough to
	 * check.
	 */
	public RecordedEvents end() throws Exception {
		Duration recovery = awaitProgress();
		await().atMost(RECOVERY)
			.until(() -> RecordedEvents.read(this.fleet.files()).validHolds().size() >= FEWEST_HOLDS);
		this.fleet.stopWorkers();
		RecordedEvents events = RecordedEvents.read(this.fleet.files());
		System.out.println("Holds: " + events.holds().size() + ", " + events.validHolds().size() + " of them valid; "
				+ events.counts() + "\nFaults: " + this.faults.counts() + "\nEach worker had each key again after "
				+ recovery.toMillis() + " ms");
		return events;
	}

	/** When nothing fails, each worker gets each key. */
	private Duration awaitProgress() throws Exception {
		long calm = System.nanoTime();
		for (Member member : this.fleet.members) {
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

	/** Whether two holders have been seen at the same time, while everything goes on. */
	public boolean hasSeenTwoHolders() throws IOException {
		long now = System.nanoTime();
		RecordedEvents events = RecordedEvents.read(this.fleet.files());
		// what was granted later may follow a hold whose end was not written yet
		List<RecordedHold> holds = events.holds().stream().filter((hold) -> hold.granted() < now).toList();
		return HistoryChecker.check(holds, events.acquisitions(), List.of())
			.stream()
			.anyMatch((violation) -> violation.kind() == Kind.OVERLAP);
	}

	/**
	 * No two holders at a time, tokens grow, the workers saw nothing strange, and locks
	 * are free or end by themselves, as what is beside them.
	 */
	public void assertRight(RecordedEvents events, Collection<DataLoss> excuses) {
		List<Violation> violations = HistoryChecker.check(events.holds(), events.acquisitions(), excuses);
		assertThat(violations).withFailMessage(() -> report(violations, events)).isEmpty();
		if (!excuses.isEmpty()) {
			System.out.println("Explained by losses of data, or of leases: "
					+ HistoryChecker.check(events.holds(), events.acquisitions(), List.of()).size() + " violations");
		}
		assertThat(events.faults()).isEmpty();
		assertThat(events.validHolds()).hasSizeGreaterThanOrEqualTo(FEWEST_HOLDS);
		await().atMost(RECOVERY).untilAsserted(this.fleet.servers::assertNothingIsLeft);
	}

	/** The shortest counter-example, and what happened around it. */
	private String report(List<Violation> violations, RecordedEvents events) {
		Violation shortest = violations.get(0);
		long from = shortest.from() - BEFORE;
		Stream<?> holds = events.holds()
			.stream()
			.filter((hold) -> hold.key().equals(shortest.first().key()))
			.filter((hold) -> Math.max(hold.until(), hold.granted()) > from && hold.granted() <= shortest.to())
			.sorted(Comparator.comparingLong(RecordedHold::granted));
		Stream<?> faults = this.faults.made()
			.stream()
			.filter((fault) -> fault.to() > from && fault.from() < shortest.to());
		Stream<?> losses = this.fleet.losses.stream().filter((loss) -> loss.to() > from && loss.from() < shortest.to());
		return Stream
			.of(Stream.of(violations.size() + " violations, seed " + SEED + "; the shortest:", shortest), holds, faults,
					losses)
			.flatMap((lines) -> lines.map(String::valueOf))
			.collect(Collectors.joining("\n"));
	}

	@Override
	public void close() {
		this.fleet.close();
	}

}
