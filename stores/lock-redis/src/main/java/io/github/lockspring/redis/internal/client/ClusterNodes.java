package io.github.lockspring.redis.internal.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Finds the node of a cluster that holds a key, as far as it is known. Thread-safe;
 * lookups never block.
 */
/*
 * For maintainers: what is known is only a hint: the driver finds the node of a command
 * on its own. So the known nodes may be out of date, wrong or missing; commands then
 * share queues, connections and threads with those of other nodes for a moment.
 *
 * One background thread replaces `known` as a whole, and everyone reads it. It is loaded
 * again while it is in use: every few seconds, and sooner when it is suspect. The thread
 * has a queue of one task, so callers that ask at the same time cause two at most.
 */
final class ClusterNodes implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(ClusterNodes.class);

	private static final long MAX_AGE = Duration.ofSeconds(5).toNanos();

	private static final long MAX_AGE_IF_SUSPECT = Duration.ofMillis(500).toNanos();

	private final RedisConnections connections;

	private final ThreadPoolExecutor thread = DaemonThreads.onDemand("lock-redis-topology", 1, 1);

	private volatile String[] known = bySlot(List.of());

	private volatile boolean suspect;

	private volatile long lastTry = System.nanoTime() - MAX_AGE;

	/**
	 * Starts without known nodes.
	 * @param connections ask the nodes for each other
	 */
	ClusterNodes(RedisConnections connections) {
		this.connections = connections;
	}

	/**
	 * Returns the address of the master that holds a key.
	 * @return {@link RedisConnections#ANY_SHARD} if it is not known
	 */
	String node(String key) {
		long now = System.nanoTime();
		if (now - this.lastTry > (this.suspect ? MAX_AGE_IF_SUSPECT : MAX_AGE)) {
			this.lastTry = now;
			try {
				this.thread.execute(this::load);
			}
			catch (RejectedExecutionException | Error ex) {
				logger.trace("Closed, or loading already, or no thread at present", ex);
			}
		}
		return this.known[ClusterSlotHashUtil.calculateSlot(key.getBytes(StandardCharsets.UTF_8))];
	}

	/**
	 * Reports that the known nodes may be out of date.
	 */
	void suspect() {
		this.suspect = true;
	}

	private void load() {
		boolean suspect = this.suspect;
		this.suspect = false;
		try {
			if (suspect) {
				this.connections.refreshNodes();
			}
			this.known = bySlot(this.connections.call(ClusterNodes::nodes));
		}
		catch (RuntimeException | Error ex) {
			this.suspect = true;
			logger.debug("The nodes of the cluster cannot be loaded at present", ex);
		}
	}

	private static Iterable<RedisClusterNode> nodes(StringRedisTemplate template) {
		RedisCallback<Iterable<RedisClusterNode>> nodes = (connection) -> ((RedisClusterConnection) connection)
			.clusterGetNodes();
		return Objects.requireNonNull(template.execute(nodes));
	}

	private static String[] bySlot(Iterable<RedisClusterNode> nodes) {
		String[] bySlot = new String[ClusterSlotHashUtil.SLOT_COUNT];
		Arrays.fill(bySlot, RedisConnections.ANY_SHARD);
		for (RedisClusterNode node : nodes) {
			if (node.isMaster()) {
				String name = node.asString();
				for (int slot : node.getSlotRange().getSlotsArray()) {
					bySlot[slot] = name;
				}
			}
		}
		return bySlot;
	}

	@Override
	public void close() {
		this.thread.shutdownNow();
	}

}
