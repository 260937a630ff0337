package io.github.lockspring.redis.internal.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * A pool of connections that have one user at a time, so {@code WAIT} counts what its
 * user has written. A connection that breaks is not replaced transparently: WAIT would
 * then count nothing. All borrowed connections lead to the server of the newest one, so
 * no command goes to a replaced master. Thread-safe; does not connect before the first
 * one is borrowed.
 *
 * @since 0.1
 */
/*
 * For maintainers: `idle` is a stack: the connection that was used last is on top, so
 * unneeded ones sink, and are closed after a while. Each connection is in the stack or
 * has one user. With Sentinel each new one looks for the master.
 *
 * A master that is being replaced does not know it for a second or so, and continues to
 * reply. It would say that locks its successor granted do not exist. So as soon as a new
 * connection leads to another server than earlier ones, these are not used again. Of
 * several that connect at the same time, the one that began last decides.
 */
public final class DedicatedConnections implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(DedicatedConnections.class);

	private static final long IDLE_TIMEOUT_NANOS = Duration.ofMinutes(1).toNanos();

	/** The run id of a server that does not report it. */
	private static final String UNKNOWN = "";

	/**
	 * A borrowed connection, or one that was returned.
	 *
	 * @param server the run id of its server, or empty
	 * @param since when it was connected or returned
	 */
	record PooledConnection(RedisConnection connection, String server, long since) {
	}

	/**
	 * The server of a connection.
	 *
	 * @param number larger than those of all connections that began before
	 */
	private record Endpoint(long number, String server) {
	}

	private final RedisConnections connections;

	private final LazyConnectionFactory factory;

	private final ConcurrentLinkedDeque<PooledConnection> idle = new ConcurrentLinkedDeque<>();

	private final AtomicLong connects = new AtomicLong();

	private final AtomicReference<Endpoint> newest = new AtomicReference<>(new Endpoint(0, UNKNOWN));

	private final AtomicBoolean logged = new AtomicBoolean();

	/**
	 * Creates connections. Does not connect.
	 * @param connections connect; stay the caller's to close
	 * @param size the largest number of connections
	 */
	public DedicatedConnections(RedisConnections connections, int size) {
		this.connections = connections;
		this.factory = new LazyConnectionFactory(() -> connections.openDedicated(size), connections::close);
	}

	/**
	 * Borrows a connection, preferably an idle one. May block while it connects.
	 * @return the connection, to be returned or invalidated
	 * @throws RuntimeException if connecting fails, as the driver or Spring Data throws
	 * it
	 */
	PooledConnection borrow() {
		PooledConnection next = this.idle.pollFirst();
		while (next == null || !isNewest(next)) {
			if (next != null) {
				this.connections.discard(next.connection());
			}
			next = this.idle.pollFirst();
			next = (next != null) ? next : connect();
		}
		return next;
	}

	private boolean isNewest(PooledConnection connection) {
		return this.newest.get().server().equals(connection.server());
	}

	private PooledConnection connect() {
		long number = this.connects.incrementAndGet();
		RedisConnection connection = this.factory.get().getConnection();
		try {
			// this command connects: nothing must be sent after the caller has left
			Endpoint endpoint = new Endpoint(number, runId(connection));
			this.newest.accumulateAndGet(endpoint, (one, other) -> (one.number() > other.number()) ? one : other);
			return new PooledConnection(connection, endpoint.server(), System.nanoTime());
		}
		catch (RuntimeException ex) {
			this.connections.discard(connection);
			throw ex;
		}
	}

	private String runId(RedisConnection connection) {
		try {
			Properties info = connection.serverCommands().info("server");
			return (info != null) ? info.getProperty("run_id", UNKNOWN) : UNKNOWN;
		}
		catch (DataAccessException ex) {
			if (!RedisErrors.isErrorReply(ex)) {
				throw ex;
			}
			if (this.logged.compareAndSet(false, true)) {
				logger.info("Redis refuses INFO, so a release during a failover may go to the former master; "
						+ "the lock then ends with its ttl: {}", ex.getMessage());
			}
			return UNKNOWN;
		}
	}

	/**
	 * Returns a connection that may be used again.
	 */
	void returnToPool(PooledConnection connection) {
		this.idle.addFirst(new PooledConnection(connection.connection(), connection.server(), System.nanoTime()));
		PooledConnection oldest = this.idle.peekLast();
		if (oldest != null && (System.nanoTime() - oldest.since() > IDLE_TIMEOUT_NANOS || this.factory.isClosed())
				&& this.idle.removeLastOccurrence(oldest)) {
			this.connections.discard(oldest.connection());
		}
	}

	/**
	 * Closes a connection that must not be used again.
	 */
	void invalidate(PooledConnection connection) {
		this.connections.discard(connection.connection());
		// they lead to the same server
		closeIdle();
	}

	private void closeIdle() {
		for (PooledConnection left = this.idle.poll(); left != null; left = this.idle.poll()) {
			this.connections.discard(left.connection());
		}
	}

	/**
	 * Returns the reply to a script.
	 * @throws LockUnavailableException without one
	 */
	<T> T usable(@Nullable T reply, @Nullable Throwable failure, Duration timeout) {
		return this.connections.usable(reply, failure, timeout);
	}

	/**
	 * Waits until replicas have everything that the connection has written.
	 * @param replicas the number of replicas to wait for
	 * @param millis the longest wait, at least 1
	 * @return the number of replicas that have it
	 */
	long waitForReplicas(PooledConnection connection, int replicas, long millis) {
		return this.connections.waitForReplicas(connection.connection(), digits(replicas), digits(millis));
	}

	private static byte[] digits(long number) {
		return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
	}

	@Override
	public void close() {
		this.factory.close();
		closeIdle();
	}

}
