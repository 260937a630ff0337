package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Remembers since when each server has been silent, when its connection was last used,
 * and when connections were replaced. From that and from the failures of requests,
 * {@link RedisConnections} decides which connections to replace. Thread-safe.
 */
final class ConnectionHealth {

	private static final int SILENT_TIMEOUTS = 3;

	/** A firewall may have forgotten a connection that was not used for so long. */
	static final Duration IDLE = Duration.ofSeconds(30);

	/** Otherwise a server that is not a master would cost a connection per command. */
	private static final long MIN_AGE = Duration.ofMillis(250).toNanos();

	private final long commandTimeout;

	private static final long NEVER = Long.MIN_VALUE;

	private final Map<String, Server> servers = new ConcurrentHashMap<>();

	private final AtomicLong replacedAt = new AtomicLong(System.nanoTime() - MIN_AGE);

	/**
	 * Starts without silent servers.
	 * @param commandTimeout how long a reply takes at most
	 */
	ConnectionHealth(Duration commandTimeout) {
		this.commandTimeout = commandTimeout.toNanos();
	}

	/**
	 * Returns whether a connection may be used again after the failure of a command.
	 */
	static boolean isUsableAfter(Throwable failure) {
		return RedisErrors.isErrorReply(failure) && !RedisErrors.isReadOnly(failure);
	}

	/**
	 * Records that a request is sent.
	 */
	void sent(String shard, long now) {
		server(shard).unansweredSince.compareAndSet(NEVER, now);
	}

	/**
	 * Records a reply. {@link RedisConnections#ANY_SHARD} is silent only while all
	 * servers are.
	 * @param sent when the request was sent
	 */
	void replied(String shard, long sent) {
		Server server = server(shard);
		server.unansweredSince.set(NEVER);
		server.used = sent;
		server(RedisConnections.ANY_SHARD).unansweredSince.set(NEVER);
	}

	private Server server(String shard) {
		return this.servers.computeIfAbsent(shard, (absent) -> new Server());
	}

	/**
	 * Records that the connections to a server are replaced.
	 */
	void replaced(String shard, long now) {
		if (shard.equals(RedisConnections.ANY_SHARD)) {
			this.replacedAt.set(now);
			this.servers.clear();
		}
		else {
			this.servers.remove(shard);
		}
	}

	/**
	 * Returns whether a connection on which a request failed is to be replaced, and
	 * records it: once for all that failed on it.
	 * @param sent when the request was sent
	 */
	boolean mayReplace(long sent, long now) {
		long before = this.replacedAt.get();
		boolean first = sent - before > 0 && now - before > MIN_AGE && this.replacedAt.compareAndSet(before, now);
		if (first) {
			replaced(RedisConnections.ANY_SHARD, now);
		}
		return first;
	}

	/**
	 * Returns whether a reply is overdue: another server may be responsible.
	 */
	boolean isLate(String shard, long now) {
		return silence(shard, now) > this.commandTimeout;
	}

	/**
	 * Returns whether the server has been silent for so long that its connection is bad.
	 */
	boolean isSilent(String shard, long now) {
		return silence(shard, now) > SILENT_TIMEOUTS * this.commandTimeout;
	}

	private long silence(String shard, long now) {
		long since = server(shard).unansweredSince.get();
		return (since != NEVER) ? now - since : 0;
	}

	/**
	 * Returns whether the connection has not been used for so long that it may be dead.
	 */
	boolean isIdle(String shard, long now) {
		long used = server(shard).used;
		return used != NEVER && now - used > IDLE.toNanos();
	}

	private static final class Server {

		/** When the first request since the last reply was sent. */
		private final AtomicLong unansweredSince = new AtomicLong(NEVER);

		/** When the last request that had a reply was sent. */
		private volatile long used = NEVER;

	}

}
