package io.github.lockspring.redis.internal.client;

import java.nio.charset.StandardCharsets;

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
public interface DedicatedConnections extends AutoCloseable {

	/**
	 * Returns the largest number of connections. Callers must not exceed it.
	 * @return the number
	 */
	int size();

	/**
	 * Borrows a connection, preferably an idle one. May block while it connects.
	 * @return the connection, to be returned or invalidated
	 * @throws RuntimeException if connecting fails, as the driver or Spring Data throws
	 * it
	 */
	PooledConnection borrow();

	/**
	 * Returns a connection that may be used again.
	 * @param connection the connection
	 */
	void returnToPool(PooledConnection connection);

	/**
	 * Closes a connection that must not be used again.
	 * @param connection the connection
	 */
	void invalidate(PooledConnection connection);

	/**
	 * Waits until replicas have everything that the connection has written.
	 * @param connection the connection
	 * @param replicas the number of replicas to wait for
	 * @param millis the longest wait, at least 1
	 * @return the number of replicas that have it
	 */
	long waitForReplicas(PooledConnection connection, int replicas, long millis);

	/**
	 * Returns whether a connection failed because it broke, or its server became a
	 * replica, while it was idle. Another connection may succeed.
	 * @param connection the connection
	 * @param failure its failure
	 * @return whether to try another one
	 */
	boolean isStale(PooledConnection connection, RuntimeException failure);

	/**
	 * Returns whether a failure is an error reply of the server. The connection is usable
	 * then.
	 * @param failure the failure
	 * @return whether the server replied
	 */
	boolean isErrorReply(RuntimeException failure);

	@Override
	void close();

	/**
	 * A borrowed connection.
	 *
	 * @param connection the connection
	 * @param used whether it may have been used before
	 * @param server the run id of its server, or empty
	 */
	record PooledConnection(RedisConnection connection, boolean used, String server) {
	}

	/** Writes a number as Redis reads it. */
	static byte[] digits(long number) {
		return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
	}

}
