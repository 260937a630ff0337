package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Dedicated connections of Lettuce, in a pool of their own.
 */
final class LettuceDedicatedConnections implements DedicatedConnections {

	/*
	 * `idle` is a stack: the connection that was used last is on top, so unneeded ones
	 * sink, and are closed after a while. Each connection is in the stack or has one
	 * user. With Sentinel each new one looks for the master.
	 *
	 * A master that is being replaced does not know it for a second or so, and continues
	 * to reply. It would say that locks its successor granted do not exist. So as soon as
	 * a new connection leads to another server than earlier ones, these are not used
	 * again. Of several that connect at the same time, the one that began last decides.
	 */

	private static final Logger logger = LoggerFactory.getLogger(LettuceDedicatedConnections.class);

	private static final long IDLE_TIMEOUT_NANOS = Duration.ofMinutes(1).toNanos();

	/** The run id of a server that does not report it. */
	private static final String UNKNOWN = "";

	private record Idle(RedisConnection connection, String server, long since) {
	}

	/**
	 * The server of a connection.
	 *
	 * @param number larger than those of all connections that began before
	 */
	private record Endpoint(long number, String server) {
	}

	private final int size;

	private final LazyReference<LettuceConnectionFactory> factory;

	private final ConcurrentLinkedDeque<Idle> idle = new ConcurrentLinkedDeque<>();

	private final AtomicLong connects = new AtomicLong();

	private final AtomicReference<Endpoint> newest = new AtomicReference<>(new Endpoint(0, UNKNOWN));

	private final AtomicBoolean logged = new AtomicBoolean();

	LettuceDedicatedConnections(DerivedLettuceConfiguration derived, int size) {
		this.size = size;
		this.factory = new LazyReference<>(() -> {
			LettuceConnectionFactory factory = new TimedLettuceConnectionFactory(derived.redisConfiguration(),
					derived.dedicated(), false);
			factory.start();
			return factory;
		});
	}

	@Override
	public int size() {
		return this.size;
	}

	@Override
	public PooledConnection borrow() {
		for (Idle used = this.idle.pollFirst(); used != null; used = this.idle.pollFirst()) {
			if (isNewest(used.server())) {
				return new PooledConnection(used.connection(), true, used.server());
			}
			used.connection().close();
		}
		while (true) {
			PooledConnection created = LettuceErrors.connect(this::connect);
			if (isNewest(created.server())) {
				return created;
			}
			created.connection().close();
		}
	}

	private boolean isNewest(String server) {
		return this.newest.get().server().equals(server);
	}

	private PooledConnection connect() {
		long number = this.connects.incrementAndGet();
		RedisConnection connection = this.factory.get().getConnection();
		try {
			// this command connects: nothing must be sent after the caller has left
			Endpoint endpoint = new Endpoint(number, runId(connection));
			this.newest.accumulateAndGet(endpoint, (one, other) -> (one.number() > other.number()) ? one : other);
			return new PooledConnection(connection, false, endpoint.server());
		}
		catch (RuntimeException ex) {
			connection.close();
			throw ex;
		}
	}

	private String runId(RedisConnection connection) {
		try {
			Properties info = connection.serverCommands().info("server");
			return (info != null) ? info.getProperty("run_id", UNKNOWN) : UNKNOWN;
		}
		catch (RedisSystemException ex) {
			if (!isErrorReply(ex)) {
				throw ex;
			}
			if (this.logged.compareAndSet(false, true)) {
				logger.info("Redis refuses INFO, so a release during a failover may go to the former master; "
						+ "the lock then ends with its ttl: {}", ex.getMessage());
			}
			return UNKNOWN;
		}
	}

	@Override
	public void returnToPool(PooledConnection connection) {
		if (isNewest(connection.server())) {
			this.idle.addFirst(new Idle(connection.connection(), connection.server(), System.nanoTime()));
		}
		else {
			connection.connection().close();
		}
		closeOldest();
	}

	@Override
	public void invalidate(PooledConnection connection) {
		connection.connection().close();
		// they lead to the same server
		closeIdle();
	}

	private void closeOldest() {
		Idle oldest = this.idle.peekLast();
		if (oldest != null && (System.nanoTime() - oldest.since() > IDLE_TIMEOUT_NANOS || this.factory.isClosed())
				&& this.idle.removeLastOccurrence(oldest)) {
			oldest.connection().close();
		}
	}

	private void closeIdle() {
		for (Idle left = this.idle.poll(); left != null; left = this.idle.poll()) {
			left.connection().close();
		}
	}

	@Override
	public long waitForReplicas(PooledConnection connection, int replicas, long millis) {
		LettuceConnection lettuce = (LettuceConnection) connection.connection();
		return (Long) Objects.requireNonNull(lettuce.execute("WAIT", new IntegerOutput<>(ByteArrayCodec.INSTANCE),
				DedicatedConnections.digits(replicas), DedicatedConnections.digits(millis)));
	}

	@Override
	public boolean isStale(PooledConnection connection, RuntimeException failure) {
		return connection.used() && (LettuceErrors.isDisconnection(failure) || RedisErrors.isReadOnly(failure));
	}

	@Override
	public boolean isErrorReply(RuntimeException failure) {
		return LettuceErrors.isErrorReply(failure);
	}

	@Override
	public void close() {
		this.factory.close(LettuceConnectionFactory::destroy);
		closeIdle();
	}

}
