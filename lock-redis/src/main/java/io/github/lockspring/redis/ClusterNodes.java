package io.github.lockspring.redis;

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

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Which node of a cluster has a hash slot, as far as is known. Thread-safe, and never
 * blocks who asks.
 */
final class ClusterNodes implements AutoCloseable {

	/*
	 * A hint and no more: the driver finds the node of a command by itself. So what is
	 * known may be old, wrong or nothing at all; commands then share lines, connections
	 * and threads with those of other nodes for a moment.
	 *
	 * `known` is replaced as a whole by one background thread and read by everybody. It
	 * is looked up again while it is asked for: every few seconds, and soon when somebody
	 * doubts it. `looking` is true while the thread is busy or about to be; whoever turns
	 * it from false to true submits the task.
	 */

	private static final Logger logger = LoggerFactory.getLogger(ClusterNodes.class);

	static final String UNKNOWN = "";

	private static final Duration KEEP = Duration.ofSeconds(5);

	private static final Duration LEAST_PAUSE = Duration.ofMillis(500);

	private record Known(String[] bySlot, Set<String> names, long since) {
	}

	private final Function<Boolean, Collection<RedisClusterNode>> source;

	private final ThreadPoolExecutor thread = DaemonThreads.onDemand("lock-redis-nodes", 1);

	private final AtomicBoolean looking = new AtomicBoolean();

	private volatile Known known = new Known(new String[0], Set.of(), 0);

	private volatile boolean doubted;

	private volatile boolean tried;

	private volatile long lastTry;

	/**
	 * Knows nothing yet.
	 * @param source looks the nodes up, may block and fail; is told whether what it said
	 * before is in doubt
	 */
	ClusterNodes(Function<Boolean, Collection<RedisClusterNode>> source) {
		this.source = source;
	}

	/**
	 * Asks the driver.
	 */
	static Collection<RedisClusterNode> ask(StringRedisTemplate template) {
		List<RedisClusterNode> nodes = new ArrayList<>();
		template.execute((RedisCallback<Boolean>) (connection) -> {
			((RedisClusterConnection) connection).clusterGetNodes().forEach(nodes::add);
			return true;
		});
		return nodes;
	}

	/**
	 * One node by itself: by turns, leaving out those that are known to have failed.
	 */
	static RedisStandaloneConfiguration oneOf(Collection<RedisClusterNode> nodes, RedisClusterConfiguration cluster,
			int turn) {
		List<RedisClusterNode> sound = nodes.stream().filter((node) -> !node.isMarkedAsFail()).toList();
		if (sound.isEmpty()) {
			throw new IllegalStateException("No node of the cluster is known");
		}
		RedisClusterNode node = sound.get(Math.floorMod(turn, sound.size()));
		RedisStandaloneConfiguration one = new RedisStandaloneConfiguration(node.getRequiredHost(),
				node.getRequiredPort());
		one.setUsername(cluster.getUsername());
		one.setPassword(cluster.getPassword());
		return one;
	}

	/**
	 * The master that has the slot.
	 * @return its address, or {@link #UNKNOWN}
	 */
	String node(int slot) {
		Known known = this.known;
		long now = System.nanoTime();
		boolean nothing = known.bySlot.length == 0;
		if (nothing || this.doubted || now - known.since > KEEP.toNanos()) {
			lookAgain(now);
		}
		return nothing ? UNKNOWN : known.bySlot[slot];
	}

	/**
	 * The masters that have slots.
	 */
	Set<String> names() {
		return this.known.names;
	}

	/**
	 * Something speaks against what is known.
	 */
	void probe() {
		this.doubted = true;
		lookAgain(System.nanoTime());
	}

	private void lookAgain(long now) {
		if (this.tried && now - this.lastTry < LEAST_PAUSE.toNanos()) {
			return;
		}
		if (this.looking.compareAndSet(false, true)) {
			this.lastTry = now;
			this.tried = true;
			try {
				this.thread.execute(this::look);
			}
			catch (RuntimeException | Error ex) {
				// an error too: a machine may be out of threads for a moment
				this.looking.set(false);
				if (!(ex instanceof RejectedExecutionException)) {
					logger.warn("The nodes of the cluster cannot be looked up at present", ex);
				}
			}
		}
	}

	private void look() {
		boolean doubted = this.doubted;
		this.doubted = false;
		try {
			this.known = known(this.source.apply(doubted));
		}
		catch (RuntimeException | Error ex) {
			this.doubted = true;
			logger.debug("The nodes of the cluster cannot be looked up at present", ex);
		}
		finally {
			this.looking.set(false);
		}
	}

	private static Known known(Collection<RedisClusterNode> nodes) {
		String[] bySlot = new String[RedisKeys.SLOTS];
		Arrays.fill(bySlot, UNKNOWN);
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
