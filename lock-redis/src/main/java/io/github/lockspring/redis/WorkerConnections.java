package io.github.lockspring.redis;

import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Connections of a driver that blocks its caller: Jedis, and whatever else implements
 * Spring Data's interfaces.
 */
final class WorkerConnections implements RedisConnections {

	/*
	 * With a blocking driver a caller waits for a place in the pool, then for the socket,
	 * then for a handshake of several commands, then for the answer, in a cluster
	 * repeatedly; each of them has a timeout of its own, none of which can be chosen per
	 * call, and their sum is several times what the caller has. So commands run on worker
	 * threads, as many as the pool has connections and made when needed, and the caller
	 * waits for the result as long as it wants. That costs a change of threads (some ten
	 * microseconds) and needs no support from the driver.
	 *
	 * A command that is given up while it stands in the queue never runs. One that is
	 * running goes on until the driver's own timeout ends it: it may still be executed,
	 * as with any command without an answer.
	 *
	 * The factory is made by the first worker that needs it, under the lock, which
	 * callers never take. One that cannot be started is thrown away.
	 *
	 * In a cluster each node has workers of its own, since those that wait for a dead one
	 * would soon be all there are. `workers` is for everything else: one server, and what
	 * any node may answer. Those of nodes that are gone are dropped when new ones come;
	 * their threads end by themselves.
	 */

	static final int WORKERS = 16;

	private final Source source;

	private final Topology topology;

	private final boolean canSubscribe;

	private final ThreadPoolExecutor workers;

	private final ConcurrentHashMap<String, ThreadPoolExecutor> workersOfNodes = new ConcurrentHashMap<>();

	private final @Nullable ClusterNodes nodes;

	private final ReentrantLock lock = new ReentrantLock();

	private volatile @Nullable StringRedisTemplate template;

	private boolean closed;

	WorkerConnections(Source source, Topology topology, boolean canSubscribe) {
		this.source = source;
		this.topology = topology;
		this.canSubscribe = canSubscribe;
		this.workers = DaemonThreads.onDemand("lock-redis", WORKERS);
		this.nodes = (topology == Topology.CLUSTER) ? new ClusterNodes(this::lookUpNodes) : null;
	}

	private Collection<RedisClusterNode> lookUpNodes(boolean doubted) {
		return run(ClusterNodes::ask, new AtomicBoolean());
	}

	@Override
	public String shard(String name) {
		return (this.nodes != null) ? this.nodes.node(RedisKeys.slot(name)) : ANY_LANE;
	}

	private ThreadPoolExecutor workers(String shard) {
		if (shard.equals(ANY_LANE) || this.nodes == null) {
			return this.workers;
		}
		ThreadPoolExecutor present = this.workersOfNodes.get(shard);
		if (present != null) {
			return present;
		}
		this.workersOfNodes.keySet().retainAll(this.nodes.names());
		return this.workersOfNodes.computeIfAbsent(shard, (l) -> DaemonThreads.onDemand("lock-redis-" + l, WORKERS));
	}

	@Override
	public <T extends @Nullable Object> T call(String shard, Function<StringRedisTemplate, T> commands,
			Duration timeout) {
		AtomicBoolean gone = new AtomicBoolean();
		Future<T> result;
		try {
			result = workers(shard).submit(() -> run(commands, gone));
		}
		catch (RejectedExecutionException ex) {
			throw new IllegalStateException("The lock store is closed", ex);
		}
		try {
			return result.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof RuntimeException cause) {
				if (cause instanceof DataAccessResourceFailureException || PassingTrouble.isElsewhere(cause)) {
					doubtNodes();
				}
				throw cause;
			}
			throw new RedisSystemException("Command failed", ex.getCause());
		}
		catch (TimeoutException ex) {
			doubtNodes();
			gone.set(true);
			result.cancel(false);
			throw new QueryTimeoutException("No answer from Redis", ex);
		}
		catch (InterruptedException ex) {
			gone.set(true);
			result.cancel(false);
			Thread.currentThread().interrupt();
			throw new RedisSystemException("Interrupted while waiting for Redis", ex);
		}
	}

	private void doubtNodes() {
		if (this.nodes != null) {
			this.nodes.probe();
		}
	}

	/*
	 * After a restart of the server each connection in the pool fails once, at once. All
	 * commands may be repeated, so that further attempts hide it: each uses up a stale
	 * connection, and one more makes a new one.
	 */
	private <T extends @Nullable Object> T run(Function<StringRedisTemplate, T> commands, AtomicBoolean gone) {
		StringRedisTemplate template = template();
		for (int stale = 0;; stale++) {
			try {
				return commands.apply(template);
			}
			catch (RuntimeException ex) {
				if (stale == WORKERS || gone.get() || !this.source.isStale(ex)) {
					throw ex;
				}
			}
		}
	}

	private StringRedisTemplate template() {
		StringRedisTemplate template = this.template;
		if (template != null) {
			return template;
		}
		this.lock.lock();
		try {
			template = this.template;
			if (template == null) {
				if (this.closed) {
					throw new IllegalStateException("The lock store is closed");
				}
				template = RedisConnections.template(this.source.open(WORKERS));
				this.template = template;
			}
			return template;
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public DedicatedConnections dedicated(int size) {
		return this.source.dedicated(size);
	}

	/**
	 * Does nothing: the driver is told by the sentinels.
	 */
	@Override
	public void suspect() {
		// see above
	}

	@Override
	public Optional<RedisConnectionFactory> openSubscriber() {
		return this.canSubscribe ? Optional.of(this.source.open(1)) : Optional.empty();
	}

	@Override
	public void closeSubscriber(RedisConnectionFactory subscriber) {
		this.source.close(subscriber);
	}

	@Override
	public boolean canSubscribe() {
		return this.canSubscribe;
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
		this.lock.lock();
		try {
			this.closed = true;
			StringRedisTemplate template = this.template;
			if (template != null) {
				this.source.close(template.getRequiredConnectionFactory());
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Makes connection factories.
	 */
	interface Source {

		/**
		 * Makes a factory and starts it; may block, and fail.
		 */
		RedisConnectionFactory open(int connections);

		void close(RedisConnectionFactory factory);

		/**
		 * Does not connect yet.
		 */
		DedicatedConnections dedicated(int size);

		/**
		 * Whether the failure is that of a connection that had ended while it was idle.
		 */
		boolean isStale(RuntimeException failure);

	}

}
