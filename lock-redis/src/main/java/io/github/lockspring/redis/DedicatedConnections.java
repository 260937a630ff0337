package io.github.lockspring.redis;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * A few connections that have one user at a time, so that his commands follow each other
 * on one socket: what WAIT counts is what its own connection has written. A connection
 * that ends is not made anew behind its user's back, or WAIT would ask another server
 * about nothing. Those that are taken are at the server that the newest was made to, so
 * that what follows does not go to one that has been replaced. Thread-safe; nothing
 * connects before the first is taken.
 */
interface DedicatedConnections extends AutoCloseable {

	/**
	 * Most connections at a time, which is the caller's to see to.
	 */
	int size();

	/**
	 * Takes a connection, an idle one if there is any. May block as long as connecting
	 * takes, and fail.
	 */
	Taken take();

	/**
	 * Gives a connection back.
	 * @param sound false if nobody is to use it again
	 */
	void giveBack(Taken taken, boolean sound);

	/**
	 * Waits until replicas have everything that the connection has written.
	 * @param millis longest wait, at least 1
	 * @return how many have it
	 */
	long waitForReplicas(Taken taken, int replicas, long millis);

	/**
	 * Whether the failure is that of a connection that had ended, or whose server had
	 * become a replica, while it was idle: another one may do better.
	 */
	boolean isStale(Taken taken, RuntimeException failure);

	/**
	 * Whether the failure is what the server answered, which says nothing against the
	 * connection.
	 */
	boolean isAnswered(RuntimeException failure);

	@Override
	void close();

	/**
	 * A connection in use.
	 *
	 * @param connection the connection
	 * @param used whether it may have been used before
	 * @param server names the server at its end, where the connections do not know by
	 * themselves when that is replaced
	 */
	record Taken(RedisConnection connection, boolean used, String server) {
	}

}
