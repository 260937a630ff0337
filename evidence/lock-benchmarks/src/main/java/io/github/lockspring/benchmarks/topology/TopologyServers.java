package io.github.lockspring.benchmarks.topology;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.redis.RedisProcess;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.SentinelGroup;
import io.github.lockspring.testsupport.redis.SentinelServer;

/**
 * All servers that are compared, on the loopback interface, without persistence: one
 * alone, which is also the first of five for Redlock; a master with two replicas and a
 * sentinel; three masters of a cluster.
 */
final class TopologyServers implements AutoCloseable {

	static final String HOST = "127.0.0.1";

	static final String MASTER_NAME = SentinelGroup.NAME;

	private static final int SLOTS = 16384;

	private static final int MASTERS = 3;

	private static final int INDEPENDENT = 5;

	private static final int REPLICAS = 2;

	private final List<RedisProcess> all = new ArrayList<>();

	private final List<RedisServer> independent = new ArrayList<>();

	private final List<RedisServer> nodes = new ArrayList<>();

	private final SentinelServer sentinel;

	TopologyServers() throws InterruptedException {
		for (int i = 0; i < INDEPENDENT; i++) {
			this.independent.add(started(RedisServer.start()));
		}
		RedisServer master = started(RedisServer.start());
		for (int i = 0; i < REPLICAS; i++) {
			started(RedisServer.start("--replicaof", HOST + ' ' + master.port()));
		}
		await("replicas", () -> master.text("INFO", "replication").split("state=online", -1).length - 1 == REPLICAS);
		this.sentinel = started(SentinelServer.watching(master));
		for (int i = 0; i < MASTERS; i++) {
			// the default of port + 10000 need not be free, nor be a port
			this.nodes.add(started(RedisServer.start("--cluster-enabled", "yes", "--cluster-port",
					String.valueOf(RedisProcess.freePort()))));
		}
		join();
	}

	private <T extends RedisProcess> T started(T server) {
		this.all.add(server);
		return server;
	}

	private void join() throws InterruptedException {
		for (int i = 0; i < MASTERS; i++) {
			RedisServer node = this.nodes.get(i);
			node.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
			node.command("CLUSTER", "ADDSLOTSRANGE", String.valueOf(SLOTS * i / MASTERS),
					String.valueOf(SLOTS * (i + 1) / MASTERS - 1));
			node.command("CLUSTER", "MEET", HOST, String.valueOf(this.nodes.get(0).port()),
					RedisCluster.busPort(this.nodes.get(0)));
		}
		await("the cluster", () -> this.nodes.stream()
			.map((node) -> node.text("CLUSTER", "INFO"))
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
		return this.nodes.stream().map(RedisServer::port).toList();
	}

	List<Integer> independent(int count) {
		return this.independent.subList(0, count).stream().map(RedisServer::port).toList();
	}

	@Override
	public void close() {
		this.all.forEach(RedisProcess::close);
	}

}
