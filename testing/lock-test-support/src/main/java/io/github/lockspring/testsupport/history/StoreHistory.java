package io.github.lockspring.testsupport.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Stream;

import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.process.Conversation;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.process.RunDirectory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Three processes, many faults, a few locks on one server: no two processes hold one at
 * the same time, and tokens grow. Lasts for some seconds, or for as many as
 * {@code -Dhistory.seconds=300} says. For one thread.
 *
 * @since 0.1
 */
public final class StoreHistory implements AutoCloseable {

	private static final int SECONDS = Integer.getInteger("history.seconds", 5);

	private static final long SEED = Long.getLong("history.seed", System.nanoTime());

	private static final String KEYS = "k0,k1,k2";

	private static final int THREADS = 6;

	/** A history of fewer tells nothing. */
	private static final int FEWEST_HOLDS = 31;

	/** Much longer than it should take, since the machine may be busy. */
	private static final Duration RECOVERY = Duration.ofMinutes(2);

	private final Server server;

	private final Class<?> worker;

	private final Path directory;

	private final List<Member> members = new ArrayList<>();

	/**
	 * Where the locks are.
	 *
	 * @param port its port
	 * @param address makes what a worker connects to of the port of a proxy
	 * @param pause makes it silent
	 * @param resume ends that
	 */
	public record Server(int port, IntFunction<String> address, Runnable pause, Runnable resume) {
	}

	/**
	 * Creates a history.
	 * @param name the name of its directory
	 * @param server where the locks are
	 * @param worker its main calls {@link #work} with its arguments, the first of which
	 * is the address of the server
	 */
	public StoreHistory(String name, Server server, Class<?> worker) {
		this.server = server;
		this.worker = worker;
		try {
			this.directory = Files.createDirectories(RunDirectory.of(name));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Makes the faults, and checks what happened.
	 */
	public void check() throws Exception {
		System.out.println("History test with seed " + SEED);
		for (int i = 0; i < 3; i++) {
			this.members.add(new Member("worker-" + i));
		}
		// on a busy machine, all faults could be over before anybody has locked
		awaitProgress();
		makeFaults(new SplittableRandom(SEED));
		awaitProgress();
		await().atMost(RECOVERY).until(() -> RecordedEvents.read(files()).validHolds().size() >= FEWEST_HOLDS);
		for (Member member : this.members) {
			member.process.ask("stop");
			member.process.awaitEnd();
		}
		RecordedEvents events = RecordedEvents.read(files());
		System.out.println("Holds: " + events.holds().size() + "; " + events.counts());
		assertThat(HistoryChecker.check(events.holds(), events.acquisitions(), List.of())).isEmpty();
		assertThat(events.faults()).isEmpty();
		assertThat(events.validHolds()).hasSizeGreaterThanOrEqualTo(FEWEST_HOLDS);
	}

	/** When nothing fails, each worker gets each key. */
	private void awaitProgress() {
		for (Member member : this.members) {
			List<Integer> before = member.progress();
			await().atMost(RECOVERY)
				.until(() -> Stream.of(0, 1, 2).allMatch((key) -> member.progress().get(key) > before.get(key)));
		}
	}

	private Map<String, Path> files() {
		Map<String, Path> files = new LinkedHashMap<>();
		this.members.forEach((member) -> files.putAll(member.files));
		return files;
	}

	private void makeFaults(SplittableRandom random) throws Exception {
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
		for (int kind = 0; kind < 6 || System.nanoTime() < end; kind++) {
			Member member = this.members.get(random.nextInt(this.members.size()));
			switch (kind % 6) {
				case 0 -> member.process.signal("STOP");
				case 1 -> member.proxy.cut(Cut.RST);
				case 2 -> member.proxy.stall(Direction.TO_CLIENT);
				case 3 -> this.server.pause().run();
				case 4 -> member.process.kill();
				default -> member.proxy.stall();
			}
			TimeUnit.MILLISECONDS.sleep(random.nextInt(300, 1500));
			switch (kind % 6) {
				case 0 -> member.process.signal("CONT");
				case 3 -> this.server.resume().run();
				case 4 -> member.start();
				default -> member.proxy.restore();
			}
			TimeUnit.MILLISECONDS.sleep(random.nextInt(300));
		}
	}

	/**
	 * What a worker does until it is told to stop: its threads take the same few locks in
	 * all possible ways.
	 * @param arguments the arguments of its main
	 * @param store the locks; closed by the caller
	 * @param commandTimeout longest wait for an answer
	 * @param ttls the leases to ask for
	 */
	public static void work(String[] arguments, LockStore store, Duration commandTimeout, Duration... ttls)
			throws Exception {
		Conversation test = new Conversation();
		EngineSettings defaults = EngineSettings.defaults();
		EngineSettings settings = new EngineSettings(defaults.ttl(), defaults.waitTime(), null, commandTimeout,
				Duration.ofSeconds(5), false);
		try (EventLog events = new EventLog(Path.of(arguments[1]));
				LockEngine engine = new LockEngine(new RecordingStore(store, events), settings, LockEvents.NOBODY)) {
			Workload workload = new Workload(engine.template(), events, List.of(KEYS.split(",")), List.of(ttls));
			workload.start(THREADS, new SplittableRandom(Long.parseLong(arguments[2])));
			test.say("ready");
			for (String line = test.hear(); !line.equals("stop"); line = test.hear()) {
				test.say(workload.progress());
			}
			workload.stop();
		}
		test.say("stopped");
	}

	@Override
	public void close() {
		this.members.forEach(Member::close);
	}

	/**
	 * A process, those that took its place, and its way to the server.
	 */
	private final class Member {

		private final String name;

		private final TcpProxy proxy = new TcpProxy(StoreHistory.this.server.port());

		private final Map<String, Path> files = new LinkedHashMap<>();

		private JavaProcess process;

		Member(String name) {
			this.name = name;
			this.process = run();
		}

		void start() {
			this.process = run();
		}

		private JavaProcess run() {
			String generation = this.name + "." + this.files.size();
			Path file = StoreHistory.this.directory.resolve(generation + "." + System.nanoTime() + ".events");
			this.files.put(generation, file);
			JavaProcess started = new JavaProcess(generation, StoreHistory.this.directory, StoreHistory.this.worker,
					List.of(StoreHistory.this.server.address().apply(this.proxy.port()), file.toString(),
							String.valueOf(SEED + generation.hashCode())));
			started.await("ready");
			return started;
		}

		List<Integer> progress() {
			return Stream.of(this.process.ask("progress").split(" ")).map(Integer::valueOf).toList();
		}

		void close() {
			this.process.close();
			this.proxy.close();
		}

	}

}
