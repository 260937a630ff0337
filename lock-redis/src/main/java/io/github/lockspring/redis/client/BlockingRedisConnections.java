package io.github.lockspring.redis.client;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Connections of a driver that blocks its caller: Jedis, and any other implementation of
 * Spring Data's interfaces.
 */
final class BlockingRedisConnections implements RedisConnections {

	/*
	 * With a blocking driver a caller waits for a place in the pool, then for the socket,
	 * then for a handshake of several commands, then for the reply, in a cluster
	 * repeatedly. Each of these waits has a timeout of its own, none of which can be
	 * chosen per call, and their sum is several times the caller's timeout. So commands
	 * run on worker threads, as many as the pool has connections and created on demand,
	 * and the caller waits for the result as long as it wants. That costs a change of
	 * threads (some ten microseconds) and needs no support from the driver.
	 *
	 * A command that is abandoned in the queue never runs. A running one continues until
	 * the driver's own timeout ends it: it may still be executed, as any command without
	 * a reply.
	 *
	 * The first worker creates the factory, under a lock that callers never take. A
	 * factory that cannot be started is discarded.
	 *
	 * In a cluster each node has its own workers, since those that wait for a dead node
	 * would soon be all of them. `workers` serves everything else: a single server, and
	 * commands that any node may execute. Workers of removed nodes are dropped when new
	 * nodes appear; their threads end when idle.
	 */

	static final int WORKERS = 16;

	private final Source source;

	private final Topology topology;

	private final ThreadPoolExecutor workers;

	private final ConcurrentHashMap<String, ThreadPoolExecutor> workersOfNodes = new ConcurrentHashMap<>();

	private final @Nullable ClusterNodes nodes;

	private final LazyReference<StringRedisTemplate> template;

	BlockingRedisConnections(Source source, Topology topology) {
		this.source = source;
		this.topology = topology;
		this.workers = DaemonThreads.onDemand("lock-redis-worker", WORKERS);
		this.nodes = (topology == Topology.CLUSTER) ? new ClusterNodes(this::loadNodes) : null;
		this.template = new LazyReference<>(() -> EvalFallbackScriptExecutor.template(source.open(WORKERS)));
	}

	private Collection<RedisClusterNode> loadNodes(boolean suspect) {
		return run(ClusterNodes::load, new AtomicBoolean());
	}

	@Override
	public String shard(String name) {
		return (this.nodes != null) ? this.nodes.node(name) : ANY_SHARD;
	}

	private ThreadPoolExecutor workers(String shard) {
		if (shard.equals(ANY_SHARD) || this.nodes == null) {
			return this.workers;
		}
		ThreadPoolExecutor present = this.workersOfNodes.get(shard);
		if (present != null) {
			return present;
		}
		this.workersOfNodes.keySet().retainAll(this.nodes.names());
		return this.workersOfNodes.computeIfAbsent(shard,
				(name) -> DaemonThreads.onDemand("lock-redis-worker-" + name, WORKERS));
	}

	@Override
	public <T extends @Nullable Object> T call(String shard, Function<StringRedisTemplate, T> commands,
			Duration timeout) {
		try {
			return DaemonThreads.<T>call(workers(shard), (abandoned) -> run(commands, abandoned), timeout);
		}
		catch (RuntimeException ex) {
			if (this.nodes != null && (ex instanceof QueryTimeoutException
					|| ex instanceof DataAccessResourceFailureException || RedisErrors.isTopologyChange(ex))) {
				this.nodes.suspect();
			}
			throw ex;
		}
	}

	/*
	 * After a restart of the server each pooled connection fails once, at once. All
	 * commands may be repeated, so further attempts hide it: each uses up one stale
	 * connection, and the last one reconnects.
	 */
	private <T extends @Nullable Object> T run(Function<StringRedisTemplate, T> commands, AtomicBoolean abandoned) {
		StringRedisTemplate template = this.template.get();
		for (int stale = 0;; stale++) {
			try {
				return commands.apply(template);
			}
			catch (RuntimeException ex) {
				if (stale == WORKERS || abandoned.get() || !this.source.isStale(ex)) {
					throw ex;
				}
			}
		}
	}

	@Override
	public DedicatedConnections dedicated(int size) {
		return this.source.dedicated(size);
	}

	/**
	 * Does nothing: the sentinels notify the driver.
	 */
	@Override
	public void suspect() {
		// see above
	}

	@Override
	public RedisConnectionFactory openSubscriber() {
		return this.source.open(1);
	}

	@Override
	public void closeSubscriber(RedisConnectionFactory subscriber) {
		this.source.close(subscriber);
	}

	@Override
	public boolean canSubscribe() {
		return true;
	}

	@Override
	public Topology topology() {
		return this.topology;
	}

	@Override
	public void close() {
		if (this.nodes != null) {
			this.nodes.close();
		}
		this.workers.shutdownNow();
		this.workersOfNodes.values().forEach(ThreadPoolExecutor::shutdownNow);
		this.template.close((template) -> this.source.close(template.getRequiredConnectionFactory()));
	}

	/**
	 * Creates connection factories.
	 */
	interface Source {

		/**
		 * Creates and starts a factory. May block, and fail.
		 */
		RedisConnectionFactory open(int connections);

		void close(RedisConnectionFactory factory);

		/**
		 * Creates dedicated connections. Does not connect.
		 */
		DedicatedConnections dedicated(int size);

		/**
		 * Whether a connection failed because it broke while it was idle.
		 */
		boolean isStale(RuntimeException failure);

	}

}
