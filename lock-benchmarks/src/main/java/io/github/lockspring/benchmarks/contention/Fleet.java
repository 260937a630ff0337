package io.github.lockspring.benchmarks.contention;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.lockspring.benchmarks.adapter.AdapterKind;

import org.springframework.util.FileSystemUtils;

/**
 * The servers and the worker processes, all of them up from the beginning to the end.
 */
final class Fleet implements AutoCloseable {

	static final Duration TTL = Duration.ofSeconds(30);

	private static final Path MEMORY = Path.of("/dev/shm");

	/** Time for an order to reach all workers before their threads begin. */
	private static final long START_MILLIS = 100;

	private final List<JavaProcess> workers = new ArrayList<>();

	private final Path directory;

	private final Path file;

	private final Cells cells;

	private final RedisProcess redis;

	private final JavaProcess zooKeeper;

	Fleet(int processes, Set<AdapterKind> adapters) throws IOException, InterruptedException {
		this.directory = Files.isWritable(MEMORY) ? Files.createTempDirectory(MEMORY, "lock-benchmarks")
				: Files.createTempDirectory("lock-benchmarks");
		this.file = this.directory.resolve("cells");
		this.cells = Cells.map(this.file, ContentionBenchmark.CELLS);
		this.redis = RedisProcess.start();
		this.zooKeeper = JavaProcess.start(ZooKeeper.class, "512m",
				List.of(this.directory.resolve("zookeeper").toString()));
		startWorkers(processes, this.zooKeeper.hear(), adapters);
	}

	private void startWorkers(int processes, String zooKeeper, Set<AdapterKind> adapters) throws IOException {
		String ids = adapters.stream().map(AdapterKind::id).collect(Collectors.joining(","));
		for (int i = 0; i < processes; i++) {
			JavaProcess worker = JavaProcess.start(Worker.class, "1g", List.of(String.valueOf(this.redis.port()),
					zooKeeper, String.valueOf(TTL.toMillis()), this.file.toString(), ids));
			this.workers.add(worker);
		}
		for (JavaProcess worker : this.workers) {
			String answer = worker.hear();
			if (!answer.equals(Worker.READY)) {
				throw new IllegalStateException("A worker said: " + answer);
			}
		}
	}

	/**
	 * Lets each process take free locks of its own, so that it compiles what all
	 * scenarios need.
	 */
	void warmUp(AdapterKind adapter, double seconds) {
		Order order = new Order(adapter, Scenario.WARM_UP, System.currentTimeMillis() + START_MILLIS, 0,
				Math.round(seconds * 1000));
		this.workers.forEach((worker) -> worker.say(order.line()));
		this.workers.forEach((worker) -> Answer.parse(worker.hear()));
	}

	Measurement run(Scenario scenario, AdapterKind adapter, int repetition, Duration warmUp, double seconds) {
		this.cells.clear();
		List<JavaProcess> wanted = this.workers.subList(0, scenario.processes());
		CommandStats before = this.redis.stats();
		Duration zooKeeperBefore = this.zooKeeper.cpuTime();
		long measureMillis = Math.round(seconds * 1000);
		Order order = new Order(adapter, scenario, System.currentTimeMillis() + START_MILLIS, warmUp.toMillis(),
				measureMillis);
		wanted.forEach((worker) -> worker.say(order.line()));
		List<Answer> answers = wanted.stream().map(JavaProcess::hear).map(Answer::parse).toList();
		return new Measurement(scenario, adapter, repetition, measureMillis / 1000.0, answers, this.cells.counted(),
				this.redis.stats().since(before), this.zooKeeper.cpuTime().minus(zooKeeperBefore).toMillis() / 1000.0);
	}

	String redisVersion() {
		return this.redis.version();
	}

	@Override
	public void close() throws IOException {
		this.workers.forEach(JavaProcess::close);
		this.zooKeeper.close();
		this.redis.close();
		FileSystemUtils.deleteRecursively(this.directory);
	}

}
