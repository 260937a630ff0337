package io.github.lockspring.benchmarks.contention;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.lockspring.benchmarks.adapter.AdapterKind.Server;
import io.github.lockspring.benchmarks.adapter.AdapterKind;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.jdbc.PostgresServer;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.jspecify.annotations.Nullable;

import org.springframework.util.FileSystemUtils;

/**
 * The servers and the worker processes, all of them up from the beginning to the end.
 */
final class Fleet implements AutoCloseable {

	static final Duration TTL = Duration.ofSeconds(30);

	private static final Path MEMORY = Path.of("/dev/shm");

	/** Time for an order to reach all workers before their threads begin. */
	private static final long START_MILLIS = 100;

	/** Longer than any scenario. */
	static final Duration PATIENCE = Duration.ofHours(1);

	private final List<JavaProcess> workers = new ArrayList<>();

	private final Path directory;

	private final Path file;

	private final Cells cells;

	private final RedisServer redis;

	private final @Nullable JavaProcess zooKeeper;

	private final @Nullable PostgresServer postgres;

	private final @Nullable EtcdProcess etcd;

	/**
	 * Starts the servers and workers.
	 * @param logs where the processes write what goes wrong
	 */
	Fleet(int processes, Set<AdapterKind> adapters, Path logs) throws IOException {
		this.directory = Files.isWritable(MEMORY) ? Files.createTempDirectory(MEMORY, "lock-benchmarks")
				: Files.createTempDirectory("lock-benchmarks");
		this.file = this.directory.resolve("cells");
		this.cells = Cells.map(this.file, ContentionBenchmark.CELLS);
		this.redis = RedisServer.start();
		this.zooKeeper = needs(adapters, Server.ZOOKEEPER) ? startZooKeeper(logs) : null;
		this.postgres = needs(adapters, Server.POSTGRESQL) ? startPostgres() : null;
		this.etcd = needs(adapters, Server.ETCD) ? EtcdProcess.alone() : null;
		startWorkers(processes, (this.zooKeeper != null) ? this.zooKeeper.hear(PATIENCE) : "-", adapters, logs);
	}

	private static boolean needs(Set<AdapterKind> adapters, Server server) {
		return adapters.stream().anyMatch((adapter) -> adapter.server() == server);
	}

	private JavaProcess startZooKeeper(Path logs) throws IOException {
		return new JavaProcess("zookeeper", logs, List.of("-Xmx512m"), ZooKeeper.class,
				List.of(this.directory.resolve("zookeeper").toString()));
	}

	private static PostgresServer startPostgres() {
		PostgresServer server = PostgresServer.start();
		for (String script : List.of("io/github/lockspring/jdbc/lock-lease-postgresql.sql", "shedlock-postgresql.sql",
				"org/springframework/integration/jdbc/schema-postgresql.sql")) {
			server.database().run(script);
		}
		return server;
	}

	private void startWorkers(int processes, String zooKeeper, Set<AdapterKind> adapters, Path logs) {
		String ids = adapters.stream().map(AdapterKind::id).collect(Collectors.joining(","));
		for (int i = 0; i < processes; i++) {
			this.workers.add(new JavaProcess("worker-" + (i + 1), logs, List.of("-Xmx1g"), Worker.class,
					List.of(String.valueOf(this.redis.port()), zooKeeper,
							(this.postgres != null) ? this.postgres.database().url() : "",
							(this.etcd != null) ? this.etcd.address() : "", String.valueOf(TTL.toMillis()),
							this.file.toString(), ids)));
		}
		this.workers.forEach((worker) -> worker.await(Worker.READY));
	}

	/**
	 * Lets each process acquire free locks of its own, so it compiles what all scenarios
	 * need.
	 */
	void warmUp(AdapterKind adapter, double seconds) {
		Order order = new Order(adapter, Scenario.WARM_UP, System.currentTimeMillis() + START_MILLIS, 0,
				Math.round(seconds * 1000));
		this.workers.forEach((worker) -> worker.say(order.line()));
		this.workers.forEach((worker) -> Answer.parse(worker.hear(PATIENCE)));
	}

	Measurement run(Scenario scenario, AdapterKind adapter, int repetition, Duration warmUp, double seconds) {
		this.cells.clear();
		List<JavaProcess> wanted = this.workers.subList(0, scenario.processes());
		CommandStats before = CommandStats.of(this.redis);
		Duration serverBefore = cpuTime(adapter.server());
		long measureMillis = Math.round(seconds * 1000);
		Order order = new Order(adapter, scenario, System.currentTimeMillis() + START_MILLIS, warmUp.toMillis(),
				measureMillis);
		wanted.forEach((worker) -> worker.say(order.line()));
		List<Answer> answers = wanted.stream().map((worker) -> Answer.parse(worker.hear(PATIENCE))).toList();
		return new Measurement(scenario, adapter, repetition, measureMillis / 1000.0, answers, this.cells.counted(),
				CommandStats.of(this.redis).since(before),
				cpuTime(adapter.server()).minus(serverBefore).toMillis() / 1000.0);
	}

	/** Redis says itself what it has used. */
	private Duration cpuTime(Server server) {
		return switch (server) {
			case ZOOKEEPER -> (this.zooKeeper != null) ? this.zooKeeper.cpuTime() : Duration.ZERO;
			case ETCD -> (this.etcd != null) ? this.etcd.cpuTime() : Duration.ZERO;
			case REDIS, POSTGRESQL -> Duration.ZERO;
		};
	}

	/** Returns the servers' versions and how they run. */
	Map<String, String> servers() {
		Map<String, String> servers = new LinkedHashMap<>();
		servers.put("redis-server", this.redis.version() + ", without persistence");
		if (this.postgres != null) {
			servers.put("PostgreSQL", this.postgres.version() + ", without fsync");
		}
		if (this.etcd != null) {
			servers.put("etcd", this.etcd.version() + ", without fsync");
		}
		if (this.zooKeeper != null) {
			servers.put("ZooKeeper", Machine.library("zookeeper")
					+ (this.directory.startsWith(MEMORY) ? ", its files in memory" : ", its files on a disk"));
		}
		return servers;
	}

	@Override
	public void close() throws IOException {
		this.workers.forEach(JavaProcess::close);
		if (this.zooKeeper != null) {
			this.zooKeeper.close();
		}
		if (this.postgres != null) {
			this.postgres.close();
		}
		if (this.etcd != null) {
			this.etcd.close();
		}
		this.redis.close();
		FileSystemUtils.deleteRecursively(this.directory);
	}

}
