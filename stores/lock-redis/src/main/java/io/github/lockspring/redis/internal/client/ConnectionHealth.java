package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Says when a connection is bad: its server is a replica, has broken it, or has not
 * replied to anything for some time. Thread-safe.
 */
final class ConnectionHealth {

	private static final int SILENT_TIMEOUTS = 3;

	/** Otherwise a server that is no master would cost a connection per command. */
	private static final long MIN_AGE = Duration.ofMillis(250).toNanos();

	private final long commandTimeout;

	private static final long ANSWERED = Long.MIN_VALUE;

	/** When the first request since the last reply was sent, by server. */
	private final Map<String, AtomicLong> unansweredSince = new ConcurrentHashMap<>();

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
		since(shard).compareAndSet(ANSWERED, now);
	}

	/**
	 * Records a reply. {@link RedisConnections#ANY_SHARD} is silent only while all
	 * servers are.
	 */
	void replied(String shard) {
		since(shard).set(ANSWERED);
		since(RedisConnections.ANY_SHARD).set(ANSWERED);
	}

	private AtomicLong since(String shard) {
		return this.unansweredSince.computeIfAbsent(shard, (absent) -> new AtomicLong(ANSWERED));
	}

	/**
	 * Records that the connections to a server are replaced.
	 */
	void replaced(String shard, long now) {
		if (shard.equals(RedisConnections.ANY_SHARD)) {
			this.replacedAt.set(now);
			this.unansweredSince.values().forEach((since) -> since.set(ANSWERED));
		}
		else {
			since(shard).set(ANSWERED);
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
		long since = since(shard).get();
		return (since != ANSWERED) ? now - since : 0;
	}

}
