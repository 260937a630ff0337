package io.github.lockspring.benchmarks.topology;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

import io.github.lockspring.benchmarks.contention.RedisProcess;

/**
 * All servers that are compared, on the loopback interface, without persistence: one
 * alone, which is also the first of five for Redlock; a master with two replicas and a
 * sentinel; three masters of a cluster.
 */
final class TopologyServers implements AutoCloseable {

	static final String HOST = "127.0.0.1";

	static final String MASTER_NAME = "mymaster";

	private static final int SLOTS = 16384;

	private static final int MASTERS = 3;

	private static final int INDEPENDENT = 5;

	private static final int REPLICAS = 2;

	private final List<RedisProcess> all = new ArrayList<>();

	private final List<RedisProcess> independent = new ArrayList<>();

	private final List<RedisProcess> nodes = new ArrayList<>();

	private final RedisProcess sentinel;

	private final Path sentinelFile = Files.createTempFile("sentinel", ".conf");

	TopologyServers() throws IOException, InterruptedException {
		for (int i = 0; i < INDEPENDENT; i++) {
			this.independent.add(started(RedisProcess.start()));
		}
		RedisProcess master = started(RedisProcess.start());
		for (int i = 0; i < REPLICAS; i++) {
			started(RedisProcess.start("--replicaof", HOST + ' ' + master.port()));
		}
		await("replicas", () -> master.commands().info("replication").split("state=online", -1).length - 1 == REPLICAS);
		int port = RedisProcess.freePort();
		Files.write(this.sentinelFile, List.of("port " + port, "bind " + HOST,
				"sentinel monitor " + MASTER_NAME + ' ' + HOST + ' ' + master.port() + " 1"));
		this.sentinel = started(RedisProcess.startSentinel(port, this.sentinelFile));
		for (int i = 0; i < MASTERS; i++) {
			this.nodes.add(started(RedisProcess.start("--cluster-enabled", "yes", "--cluster-config-file",
					Files.createTempDirectory("cluster").resolve("nodes.conf").toString())));
		}
		join();
	}

	private RedisProcess started(RedisProcess server) {
		this.all.add(server);
		return server;
	}

	private void join() throws InterruptedException {
		for (int i = 0; i < MASTERS; i++) {
			RedisProcess node = this.nodes.get(i);
			node.commands().clusterSetConfigEpoch(i + 1);
			node.commands().clusterAddSlots(IntStream.range(SLOTS * i / MASTERS, SLOTS * (i + 1) / MASTERS).toArray());
			this.nodes.get(0).commands().clusterMeet(HOST, node.port());
		}
		await("the cluster", () -> this.nodes.stream()
			.map((node) -> node.commands().clusterInfo())
			.allMatch((info) -> info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + MASTERS)));
	}

	private static void await(String what, BooleanSupplier condition) throws InterruptedException {
		long start = System.nanoTime();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(60)) {
				throw new IllegalStateException("No " + what + " after a minute");
			}
			TimeUnit.MILLISECONDS.sleep(50);
		}
	}

	String version() {
		return this.independent.get(0).version();
	}

	int single() {
		return this.independent.get(0).port();
	}

	int sentinel() {
		return this.sentinel.port();
	}

	List<Integer> cluster() {
		return this.nodes.stream().map(RedisProcess::port).toList();
	}

	List<Integer> independent(int count) {
		return this.independent.subList(0, count).stream().map(RedisProcess::port).toList();
	}

	@Override
	public void close() throws IOException {
		this.all.forEach(RedisProcess::close);
		Files.deleteIfExists(this.sentinelFile);
	}

}
