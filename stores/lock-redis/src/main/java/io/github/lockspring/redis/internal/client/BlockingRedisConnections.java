package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.DefaultStringRedisConnection;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConnection;
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
	 * On a single server whose driver has a timeout of the socket for each command, a
	 * caller sends its commands itself on an idle connection, and that timeout ends the
	 * call: no change of threads. A worker opens such a connection when there was none,
	 * since connecting has no such timeout, and executes the commands of the callers that
	 * find none idle. Where the server may be replaced by another one, idle connections
	 * could be to the former one.
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

	private final @Nullable CallerConnections callers;

	BlockingRedisConnections(Source source, Topology topology) {
		this.source = source;
		this.topology = topology;
		this.workers = DaemonThreads.onDemand("lock-redis-worker", WORKERS);
		this.nodes = (topology == Topology.CLUSTER) ? new ClusterNodes(this::loadNodes) : null;
		AtomicBoolean evalShaRefused = new AtomicBoolean();
		this.template = new LazyReference<>(
				() -> EvalFallbackScriptExecutor.template(source.open(WORKERS), evalShaRefused));
		CallerSource callers = (topology == Topology.SINGLE) ? source.forCallers() : null;
		this.callers = (callers != null) ? new CallerConnections(callers, evalShaRefused) : null;
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
		if (this.callers != null) {
			return callOnSingleServer(this.callers, commands, timeout);
		}
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

	private <T extends @Nullable Object> T callOnSingleServer(CallerConnections connections,
			Function<StringRedisTemplate, T> commands, Duration timeout) {
		long end = System.nanoTime() + timeout.toNanos();
		CallerConnection connection = connections.take();
		while (connection != null) {
			try {
				return connections.run(connection, commands, Duration.ofNanos(end - System.nanoTime()));
			}
			catch (RuntimeException ex) {
				if (!this.source.isStale(ex)) {
					throw ex;
				}
			}
			connection = connections.take();
		}
		T result = DaemonThreads.<T>call(this.workers, (abandoned) -> run(commands, abandoned),
				Duration.ofNanos(end - System.nanoTime()));
		connections.openOne(this.workers);
		return result;
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
		if (this.callers != null) {
			this.callers.close();
		}
		this.workers.shutdownNow();
		this.workersOfNodes.values().forEach(ThreadPoolExecutor::shutdownNow);
		this.template.close((template) -> this.source.close(template.getRequiredConnectionFactory()));
	}

	/**
	 * Connections on which callers send commands themselves, those used last first.
	 */
	private static final class CallerConnections {

		private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(1);

		private final CallerSource source;

		private final AtomicBoolean evalShaRefused;

		private final ConcurrentLinkedDeque<CallerConnection> idle = new ConcurrentLinkedDeque<>();

		private final AtomicInteger open = new AtomicInteger();

		private volatile boolean closed;

		CallerConnections(CallerSource source, AtomicBoolean evalShaRefused) {
			this.source = source;
			this.evalShaRefused = evalShaRefused;
		}

		/**
		 * Returns a connection that nobody uses, or null. One that was idle for long may
		 * have been dropped by a firewall without notice, which only a timeout would
		 * show.
		 */
		@Nullable CallerConnection take() {
			CallerConnection last = this.idle.pollFirst();
			while (last != null && System.nanoTime() - last.usedAt > IDLE_NANOS) {
				discard(last);
				last = this.idle.pollFirst();
			}
			return last;
		}

		<T extends @Nullable Object> T run(CallerConnection connection, Function<StringRedisTemplate, T> commands,
				Duration timeout) {
			boolean usable = false;
			try {
				this.source.setTimeout(connection.connection, timeout);
				T result = commands.apply(connection.template);
				usable = true;
				return result;
			}
			catch (RuntimeException ex) {
				usable = this.source.isErrorReply(ex);
				if (this.source.isTimeout(ex)) {
					throw new QueryTimeoutException("No reply from Redis", ex);
				}
				throw ex;
			}
			finally {
				if (usable) {
					connection.usedAt = System.nanoTime();
					this.idle.addFirst(connection);
					closeLongestIdle();
				}
				else {
					discard(connection);
				}
			}
		}

		private void closeLongestIdle() {
			CallerConnection last = this.idle.peekLast();
			if (this.closed || (last != null && System.nanoTime() - last.usedAt > IDLE_NANOS)) {
				last = this.idle.pollLast();
				if (last != null) {
					discard(last);
				}
			}
		}

		private void discard(CallerConnection connection) {
			this.open.decrementAndGet();
			this.source.disconnect(connection.connection);
		}

		/** Opens one more connection in the background, if there may be one. */
		void openOne(Executor executor) {
			if (this.open.incrementAndGet() > WORKERS || this.closed) {
				this.open.decrementAndGet();
				return;
			}
			try {
				executor.execute(() -> {
					try {
						RedisConnection connection = this.source.connect();
						this.idle.addFirst(new CallerConnection(connection, EvalFallbackScriptExecutor
							.template(new OneConnectionFactory(connection), this.evalShaRefused)));
						closeLongestIdle();
					}
					catch (RuntimeException ex) {
						// the next caller that finds none tries again
						this.open.decrementAndGet();
					}
				});
			}
			catch (RejectedExecutionException ex) {
				this.open.decrementAndGet();
			}
		}

		void close() {
			this.closed = true;
			CallerConnection connection = this.idle.pollFirst();
			while (connection != null) {
				discard(connection);
				connection = this.idle.pollFirst();
			}
			this.source.close();
		}

	}

	/**
	 * A connection that one caller uses at a time.
	 */
	private static final class CallerConnection {

		private final RedisConnection connection;

		private final StringRedisTemplate template;

		/**
		 * Written and read by those who have taken it, and read at the end of the queue.
		 */
		private volatile long usedAt = System.nanoTime();

		CallerConnection(RedisConnection connection, StringRedisTemplate template) {
			this.connection = connection;
			this.template = template;
		}

	}

	/**
	 * A factory of one connection, which its users cannot close.
	 */
	private record OneConnectionFactory(RedisConnection connection) implements RedisConnectionFactory {

		OneConnectionFactory {
			connection = new DefaultStringRedisConnection(connection) {

				@Override
				public void close() {
					// a template is done with its command, not with the connection
				}

			};
		}

		@Override
		public RedisConnection getConnection() {
			return this.connection;
		}

		@Override
		public RedisClusterConnection getClusterConnection() {
			throw new UnsupportedOperationException("Not a cluster");
		}

		@Override
		public boolean getConvertPipelineAndTxResults() {
			return true;
		}

		@Override
		public RedisSentinelConnection getSentinelConnection() {
			throw new UnsupportedOperationException("Not a sentinel");
		}

		@Override
		public @Nullable DataAccessException translateExceptionIfPossible(RuntimeException ex) {
			return null;
		}

	}

	/**
	 * Opens connections, in no pool, whose timeout can be set for each command.
	 */
	interface CallerSource {

		/**
		 * Connects. May block, and fail.
		 */
		RedisConnection connect();

		/**
		 * Closes a connection without a word to the server, which may be silent.
		 */
		void disconnect(RedisConnection connection);

		/**
		 * Sets how long a command waits for its reply.
		 * @throws QueryTimeoutException if no time is left
		 */
		void setTimeout(RedisConnection connection, Duration timeout);

		/**
		 * Returns whether a failure is the timeout of a command.
		 */
		boolean isTimeout(RuntimeException failure);

		/**
		 * Returns whether a failure is an error reply. The connection is usable then.
		 */
		boolean isErrorReply(RuntimeException failure);

		void close();

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
		 * Creates a source of connections on which callers send commands themselves.
		 * @return null if the driver has no timeout for each command
		 */
		default @Nullable CallerSource forCallers() {
			return null;
		}

		/**
		 * Whether a connection failed because it broke while it was idle.
		 */
		boolean isStale(RuntimeException failure);

	}

}
