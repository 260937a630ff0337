package io.github.lockspring.jdbc;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.engine.EngineSettings;
import io.github.lockspring.engine.LockEngine;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.history.EventLog;
import io.github.lockspring.testsupport.history.HistoryChecker;
import io.github.lockspring.testsupport.history.RecordedEvents;
import io.github.lockspring.testsupport.history.RecordedHold;
import io.github.lockspring.testsupport.history.RecordingStore;
import io.github.lockspring.testsupport.history.Workload;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.PostgresServer;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.process.Conversation;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.process.RunDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Several processes, many faults, a few locks in one database: no two processes hold one
 * at the same time, and tokens grow. Short by default; longer with
 * {@code -Dhistory.seconds=300}.
 */
class JdbcHistoryTests {

	private static final int SECONDS = Integer.getInteger("history.seconds", 6);

	private static final long SEED = Long.getLong("history.seed", System.nanoTime());

	private static final String KEYS = "k0,k1,k2";

	private final PostgresServer server = PostgresServer.start();

	private final List<Member> members = new ArrayList<>();

	@AfterEach
	void stop() {
		this.members.forEach(Member::close);
		this.server.close();
	}

	@Test
	void noTwoHoldersOverlapAndTokensGrowWhateverFails() throws Exception {
		System.out.println("History test with seed " + SEED);
		this.server.database().withLocks();
		Path directory = Files.createDirectories(RunDirectory.of("jdbc-history"));
		for (int i = 0; i < 3; i++) {
			this.members.add(new Member("worker-" + i, directory));
		}
		makeFaults(new SplittableRandom(SEED));
		for (Member member : this.members) {
			List<Integer> before = member.progress();
			await().atMost(Duration.ofMinutes(2))
				.until(() -> Stream.of(0, 1, 2).allMatch((key) -> member.progress().get(key) > before.get(key)));
		}
		Map<String, Path> files = new LinkedHashMap<>();
		for (Member member : this.members) {
			member.process.ask("stop");
			member.process.awaitEnd();
			files.putAll(member.files);
		}
		RecordedEvents events = RecordedEvents.read(files);
		System.out.println("Holds: " + events.holds().size() + "; " + events.counts());
		assertThat(HistoryChecker.check(events.holds(), events.acquisitions(), List.of())).isEmpty();
		assertThat(events.faults()).isEmpty();
		assertThat(events.holds().stream().filter(RecordedHold::wasValid)).hasSizeGreaterThan(30);
	}

	private void makeFaults(SplittableRandom random) throws Exception {
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
		for (int kind = 0; kind < 6 || System.nanoTime() < end; kind++) {
			Member member = this.members.get(random.nextInt(this.members.size()));
			switch (kind % 6) {
				case 0 -> member.process.signal("STOP");
				case 1 -> member.proxy.cut(Cut.RST);
				case 2 -> member.proxy.stall(Direction.TO_CLIENT);
				case 3 -> this.server.pause();
				case 4 -> member.kill();
				default -> member.proxy.stall();
			}
			TimeUnit.MILLISECONDS.sleep(random.nextInt(300, 1500));
			switch (kind % 6) {
				case 0 -> member.process.signal("CONT");
				case 3 -> this.server.resume();
				case 4 -> member.start();
				default -> member.proxy.restore();
			}
			TimeUnit.MILLISECONDS.sleep(random.nextInt(300));
		}
	}

	/**
	 * A process, those that took its place, and its way to the server.
	 */
	private final class Member {

		private final String name;

		private final Path directory;

		private final TcpProxy proxy = new TcpProxy(JdbcHistoryTests.this.server.port());

		private final Map<String, Path> files = new LinkedHashMap<>();

		private JavaProcess process;

		Member(String name, Path directory) {
			this.name = name;
			this.directory = directory;
			start();
		}

		void start() {
			String generation = this.name + "." + this.files.size();
			Path file = this.directory.resolve(generation + "." + System.nanoTime() + ".events");
			this.files.put(generation, file);
			this.process = new JavaProcess(generation, this.directory, Worker.class,
					List.of(JdbcHistoryTests.this.server.database(this.proxy.port()).url(), file.toString(),
							String.valueOf(SEED + generation.hashCode())));
			this.process.await("ready");
		}

		void kill() {
			this.process.kill();
		}

		List<Integer> progress() {
			return Stream.of(this.process.ask("progress").split(" ")).map(Integer::valueOf).toList();
		}

		void close() {
			this.process.close();
			this.proxy.close();
		}

	}

	/**
	 * A process: an instance of an application, whose threads take the same few locks in
	 * all possible ways.
	 */
	static final class Worker {

		private Worker() {
		}

		public static void main(String[] args) throws Exception {
			Conversation test = new Conversation();
			EngineSettings defaults = EngineSettings.defaults();
			EngineSettings settings = new EngineSettings(defaults.ttl(), defaults.waitTime(), null,
					Duration.ofMillis(500), defaults.renewalInterval(), defaults.renewalBatchSize(),
					defaults.maxHandoffTime(), Duration.ofSeconds(5), false);
			List<Duration> ttls = Stream.of(400, 700, 1500).map(Duration::ofMillis).toList();
			try (HikariDataSource pool = JdbcInstance.pool(new Database("postgresql", args[0], "postgres", ""));
					EventLog events = new EventLog(Path.of(args[1]));
					LockStore store = JdbcLockStore.create(pool, new JdbcStoreSettings());
					LockEngine engine = new LockEngine(new RecordingStore(store, events), settings, List.of())) {
				Workload workload = new Workload(engine.template(), events, List.of(KEYS.split(",")), ttls);
				workload.start(6, new SplittableRandom(Long.parseLong(args[2])));
				test.say("ready");
				for (String line = test.hear(); !line.equals("stop"); line = test.hear()) {
					test.say(workload.progress());
				}
				workload.stop();
			}
			test.say("stopped");
		}

	}

}
