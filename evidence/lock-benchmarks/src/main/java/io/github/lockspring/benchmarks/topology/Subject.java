package io.github.lockspring.benchmarks.topology;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.redis.redlock.RedlockLockStore;
import io.github.lockspring.store.LockStore;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * One way of running Redis, with the settings of an application that sets nothing else.
 * Used by one thread.
 */
final class Subject implements AutoCloseable {

	private static final int KEYS = 64;

	private final String name;

	private final LockStore store;

	private final LockEngine engine;

	private final List<LockRequest> requests;

	private int next;

	private Subject(String name, LockStore store) {
		this.name = name;
		this.store = store;
		this.engine = new LockEngine(store, EngineSettings.defaults(), LockEvents.NOBODY);
		this.requests = IntStream.range(0, KEYS).mapToObj((i) -> LockRequest.of("key:" + i)).toList();
	}

	/** All that are compared; the first one is what the others are measured by. */
	static List<Subject> all(TopologyServers servers) {
		return List.of(new Subject("one server", redis(single(servers.single()), 0)),
				new Subject("Sentinel", redis(sentinel(servers), 0)),
				new Subject("Sentinel, 1 acknowledgement", redis(sentinel(servers), 1)),
				new Subject("Sentinel, 2 acknowledgements", redis(sentinel(servers), 2)),
				new Subject("Cluster", redis(cluster(servers), 0)),
				new Subject("Redlock, 3 servers", redlock(servers.independent(3))),
				new Subject("Redlock, 5 servers", redlock(servers.independent(5))));
	}

	private static LockStore redis(LettuceConnectionFactory factory, int replicaAcks) {
		return RedisLockStore.builder(factory).replicaAcks(replicaAcks).build();
	}

	private static LettuceConnectionFactory single(int port) {
		return new LettuceConnectionFactory(new RedisStandaloneConfiguration(TopologyServers.HOST, port));
	}

	private static LettuceConnectionFactory sentinel(TopologyServers servers) {
		RedisSentinelConfiguration configuration = new RedisSentinelConfiguration();
		configuration.master(TopologyServers.MASTER_NAME);
		configuration.sentinel(new RedisNode(TopologyServers.HOST, servers.sentinel()));
		return new LettuceConnectionFactory(configuration);
	}

	private static LettuceConnectionFactory cluster(TopologyServers servers) {
		return new LettuceConnectionFactory(new RedisClusterConfiguration(
				servers.cluster().stream().map((port) -> TopologyServers.HOST + ':' + port).toList()));
	}

	// the servers have just been started, which matters to the rule about restarted ones
	private static LockStore redlock(List<Integer> ports) {
		return RedlockLockStore.builder(ports.stream().map(Subject::single).toList()).build();
	}

	String name() {
		return this.name;
	}

	/** Takes a free lock and gives it back, again and again, and counts. */
	int run(Duration duration) {
		LockTemplate locks = this.engine.template();
		int pairs = 0;
		long end = System.nanoTime() + duration.toNanos();
		do {
			locks.executeWithoutResult(this.requests.get(this.next++ % KEYS), (lock) -> {
			});
			pairs++;
		}
		while (System.nanoTime() - end < 0);
		return pairs;
	}

	@Override
	public void close() {
		this.engine.close();
		this.store.close();
	}

}
