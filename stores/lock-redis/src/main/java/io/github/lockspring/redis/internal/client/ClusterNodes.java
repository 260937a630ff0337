package io.github.lockspring.redis.internal.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Knows which node of a cluster holds a key, as far as it was found out. Thread-safe;
 * lookups never block.
 */
final class ClusterNodes implements AutoCloseable {

	/*
	 * A hint and no more: the driver finds the node of a command on its own. So the known
	 * nodes may be out of date, wrong or missing; commands then share queues, connections
	 * and threads with those of other nodes for a moment.
	 *
	 * One background thread replaces `known` as a whole, and everyone reads it. It is
	 * loaded again while it is in use: every few seconds, and soon when it is suspect.
	 * `loading` is true while the thread is busy or about to be; the caller that turns it
	 * from false to true submits the task.
	 */

	private static final Logger logger = LoggerFactory.getLogger(ClusterNodes.class);

	private static final Duration MAX_AGE = Duration.ofSeconds(5);

	private static final Duration MIN_PAUSE = Duration.ofMillis(500);

	private record Known(String[] bySlot, Set<String> names, long since) {
	}

	private final Function<Boolean, Collection<RedisClusterNode>> source;

	private final ThreadPoolExecutor thread = DaemonThreads.onDemand("lock-redis-topology", 1);

	private final AtomicBoolean loading = new AtomicBoolean();

	private volatile Known known = new Known(new String[0], Set.of(), 0);

	private volatile boolean suspect;

	private volatile long lastTry = System.nanoTime() - MIN_PAUSE.toNanos();

	/**
	 * Starts without known nodes.
	 * @param source loads the nodes, may block and fail; is given whether its last result
	 * is suspect
	 */
	ClusterNodes(Function<Boolean, Collection<RedisClusterNode>> source) {
		this.source = source;
	}

	/**
	 * Loads the nodes through the driver.
	 */
	static Collection<RedisClusterNode> load(StringRedisTemplate template) {
		List<RedisClusterNode> nodes = new ArrayList<>();
		template.execute((RedisCallback<Boolean>) (connection) -> {
			((RedisClusterConnection) connection).clusterGetNodes().forEach(nodes::add);
			return true;
		});
		return nodes;
	}

	/**
	 * Selects one node, round robin, leaving out those that are known to have failed.
	 */
	static RedisStandaloneConfiguration oneOf(Collection<RedisClusterNode> nodes, RedisClusterConfiguration cluster,
			int turn) {
		List<RedisClusterNode> healthy = nodes.stream().filter((node) -> !node.isMarkedAsFail()).toList();
		if (healthy.isEmpty()) {
			throw new IllegalStateException("No node of the cluster is known");
		}
		RedisClusterNode node = healthy.get(Math.floorMod(turn, healthy.size()));
		RedisStandaloneConfiguration one = new RedisStandaloneConfiguration(node.getRequiredHost(),
				node.getRequiredPort());
		one.setUsername(cluster.getUsername());
		one.setPassword(cluster.getPassword());
		return one;
	}

	/**
	 * Returns the address of the master that holds a key.
	 * @return {@link RedisConnections#ANY_SHARD} if it is not known
	 */
	String node(String key) {
		Known known = this.known;
		long now = System.nanoTime();
		boolean nothing = known.bySlot.length == 0;
		if (nothing || this.suspect || now - known.since > MAX_AGE.toNanos()) {
			reload(now);
		}
		return nothing ? RedisConnections.ANY_SHARD
				: known.bySlot[ClusterSlotHashUtil.calculateSlot(key.getBytes(StandardCharsets.UTF_8))];
	}

	/**
	 * Returns the addresses of the masters that have slots.
	 */
	Set<String> names() {
		return this.known.names;
	}

	/**
	 * Reports that the known nodes may be out of date.
	 */
	void suspect() {
		this.suspect = true;
		reload(System.nanoTime());
	}

	private void reload(long now) {
		if (now - this.lastTry < MIN_PAUSE.toNanos()) {
			return;
		}
		if (this.loading.compareAndSet(false, true)) {
			this.lastTry = now;
			try {
				this.thread.execute(this::load);
			}
			catch (RuntimeException | Error ex) {
				// an error too: a machine may be out of threads for a moment
				this.loading.set(false);
				if (!(ex instanceof RejectedExecutionException)) {
					logger.warn("The nodes of the cluster cannot be loaded at present", ex);
				}
			}
		}
	}

	private void load() {
		boolean suspect = this.suspect;
		this.suspect = false;
		try {
			this.known = known(this.source.apply(suspect));
		}
		catch (RuntimeException | Error ex) {
			this.suspect = true;
			logger.debug("The nodes of the cluster cannot be loaded at present", ex);
		}
		finally {
			this.loading.set(false);
		}
	}

	private static Known known(Collection<RedisClusterNode> nodes) {
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
		Set<String> names = Arrays.stream(bySlot).collect(Collectors.toSet());
		return new Known(bySlot, names, System.nanoTime());
	}

	@Override
	public void close() {
		this.thread.shutdownNow();
	}

}
