package io.github.lockspring.testsupport.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import static org.awaitility.Awaitility.await;

/**
 * Six real redis-servers as a cluster: three masters with a third of the slots each, and
 * a replica for each of them. Thread-safe as far as its servers are.
 * <p>
 * No master is replaced unless a test requests it ({@link #failOverAfter}), since a
 * server may be idle for a second on a busy machine.
 *
 * @since 0.1
 */
public final class RedisCluster implements AutoCloseable {

	private static final int SLOTS = 16384;

	private static final int MASTERS = 3;

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration CALM = Duration.ofMinutes(1);

	private static @Nullable RedisCluster shared;

	private final List<RedisServer> nodes = new ArrayList<>();

	private RedisCluster() {
	}

	/**
	 * Returns the cluster that is shared by tests that leave it whole: all servers
	 * running, each slot with its first master. It may contain keys of other tests.
	 */
	public static synchronized RedisCluster shared() {
		if (shared == null) {
			shared = start();
		}
		return shared;
	}

	/** Starts a cluster and waits until it is complete. */
	public static RedisCluster start() {
		RedisCluster cluster = new RedisCluster();
		for (int i = 0; i < 2 * MASTERS; i++) {
			cluster.nodes.add(startNode());
		}
		cluster.join();
		return cluster;
	}

	private static RedisServer startNode() {
		// the default of port + 10000 need not be free, nor be a port
		return RedisServer.start("--cluster-enabled", "yes", "--cluster-port", String.valueOf(RedisServer.freePort()),
				"--cluster-node-timeout", String.valueOf(CALM.toMillis()), "--cluster-require-full-coverage", "no",
				"--cluster-replica-validity-factor", "0", "--cluster-migration-barrier", "99",
				"--repl-diskless-sync-delay", "0");
	}

	private void join() {
		for (int i = 0; i < this.nodes.size(); i++) {
			RedisServer node = this.nodes.get(i);
			node.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
			if (i < MASTERS) {
				node.command("CLUSTER", "ADDSLOTSRANGE", String.valueOf(firstSlot(i)),
						String.valueOf(firstSlot(i + 1) - 1));
			}
		}
		for (RedisServer node : this.nodes) {
			// each with each: gossip would take seconds
			for (RedisServer other : this.nodes) {
				if (other != node) {
					node.command("CLUSTER", "MEET", other.host(), String.valueOf(other.port()), busPort(other));
				}
			}
		}
		for (RedisServer node : this.nodes) {
			await().atMost(PATIENCE).until(() -> lines(node).size() == 2 * MASTERS);
			await().atMost(PATIENCE).until(() -> lines(node).stream().noneMatch((line) -> line.contains("handshake")));
		}
		for (int i = 0; i < MASTERS; i++) {
			this.nodes.get(MASTERS + i).command("CLUSTER", "REPLICATE", id(this.nodes.get(i)));
		}
		awaitWhole();
	}

	/** Returns the port by which nodes of a cluster talk with a node. */
	public static String busPort(RedisServer node) {
		return String.valueOf(((List<?>) Objects.requireNonNull(node.command("CONFIG", "GET", "cluster-port"))).get(1));
	}

	private static int firstSlot(int master) {
		return SLOTS * master / MASTERS;
	}

	/** Returns host and port of each node, with a colon between them. */
	public List<String> addresses() {
		return this.nodes.stream().map(RedisServer::address).toList();
	}

	/** Returns all nodes, the first masters first. */
	public List<RedisServer> nodes() {
		return List.copyOf(this.nodes);
	}

	/** Returns the first masters, in the order of their slots. */
	public List<RedisServer> masters() {
		return List.copyOf(this.nodes.subList(0, MASTERS));
	}

	/** Returns the replica of one of the first masters. */
	public RedisServer replicaOf(RedisServer master) {
		return this.nodes.get(MASTERS + this.nodes.indexOf(master));
	}

	/** Returns the first master that has the slot. */
	public RedisServer masterOf(int slot) {
		for (int i = 0; i < MASTERS; i++) {
			if (slot < firstSlot(i + 1)) {
				return this.nodes.get(i);
			}
		}
		throw new IllegalArgumentException("No such slot: " + slot);
	}

	/** Returns the first master that has the slot of a key, such as {@code lock:name}. */
	public RedisServer masterOf(String key) {
		return masterOf(Integer.parseInt(this.nodes.get(0).text("CLUSTER", "KEYSLOT", key)));
	}

	/**
	 * Returns names of locks by where they are stored, without end.
	 * @param prefix what each name begins with; a number follows
	 * @param home accepts the master of {@code lock:} and the name
	 */
	public Stream<String> locks(String prefix, Predicate<RedisServer> home) {
		return IntStream.iterate(0, (i) -> i + 1)
			.mapToObj((i) -> prefix + i)
			.filter((name) -> home.test(masterOf("lock:" + name)));
	}

	/** Lets replicas take over when their master has been silent for this long. */
	public void failOverAfter(Duration silence) {
		for (RedisServer node : this.nodes) {
			node.command("CONFIG", "SET", "cluster-node-timeout", String.valueOf(silence.toMillis()));
		}
	}

	/** Lets no replica take over. */
	public void stayAsYouAre() {
		failOverAfter(CALM);
	}

	/** Returns whether the node reports itself as a master. */
	public boolean isMaster(RedisServer node) {
		return node.text("ROLE").startsWith("[master");
	}

	/** Makes the first masters masters again, all servers running. */
	public void restore() {
		awaitWhole();
		for (RedisServer master : masters()) {
			if (!isMaster(master)) {
				master.command("CLUSTER", "FAILOVER");
				await().atMost(PATIENCE).until(() -> isMaster(master));
				awaitWhole();
			}
		}
		stayAsYouAre();
	}

	/** Waits until all nodes report that the cluster is complete and healthy. */
	public void awaitWhole() {
		for (RedisServer node : this.nodes) {
			await().atMost(PATIENCE).ignoreExceptions().until(() -> isWhole(node));
		}
	}

	private static boolean isWhole(RedisServer node) {
		String info = node.text("CLUSTER", "INFO");
		List<String> lines = lines(node);
		return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + SLOTS)
				&& lines.size() == 2 * MASTERS && lines.stream().noneMatch((line) -> line.contains("fail"))
				&& lines.stream().filter((line) -> line.contains("slave")).count() == MASTERS
				&& !node.text("INFO", "replication").contains("master_link_status:down");
	}

	private static List<String> lines(RedisServer node) {
		return node.text("CLUSTER", "NODES").lines().toList();
	}

	static String id(RedisServer node) {
		return node.text("CLUSTER", "MYID");
	}

	/** Deletes all keys of the first masters. */
	public void flushAll() {
		masters().forEach(RedisServer::flushAll);
	}

	/**
	 * Begins to move a slot to another of the first masters.
	 * @return the steps that follow
	 */
	public SlotMove move(int slot, RedisServer from, RedisServer to) {
		return new SlotMove(slot, from, to);
	}

	@Override
	public void close() {
		this.nodes.forEach(RedisServer::close);
	}

	/**
	 * The steps in which a slot goes from one master to another, as tools for resharding
	 * take them.
	 */
	public final class SlotMove {

		private final String slot;

		private final RedisServer from;

		private final RedisServer to;

		private SlotMove(int slot, RedisServer from, RedisServer to) {
			this.slot = String.valueOf(slot);
			this.from = from;
			this.to = to;
			to.command("CLUSTER", "SETSLOT", this.slot, "IMPORTING", id(from));
			from.command("CLUSTER", "SETSLOT", this.slot, "MIGRATING", id(to));
		}

		/** Moves the keys of the slot, with their TTLs. */
		public SlotMove keys() {
			while (true) {
				List<?> keys = (List<?>) Objects
					.requireNonNull(this.from.command("CLUSTER", "GETKEYSINSLOT", this.slot, "100"));
				if (keys.isEmpty()) {
					return this;
				}
				keys.forEach((key) -> key((String) key));
			}
		}

		/** Moves one key if it exists. */
		public SlotMove key(String key) {
			this.from.command("MIGRATE", this.to.host(), String.valueOf(this.to.port()), key, "0", "10000");
			return this;
		}

		/** Gives the slot to the other master. */
		public void end() {
			Set<RedisServer> order = new LinkedHashSet<>(List.of(this.to, this.from));
			order.addAll(masters());
			order.forEach((node) -> node.command("CLUSTER", "SETSLOT", this.slot, "NODE", id(this.to)));
		}

	}

}
