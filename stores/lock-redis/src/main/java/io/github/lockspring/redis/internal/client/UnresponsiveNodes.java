package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Measures for how long servers have not replied to anything. Thread-safe.
 */
final class UnresponsiveNodes {

	private final long limit;

	/** When the first of the requests without a reply was sent, by server. */
	private final Map<String, Long> since = new ConcurrentHashMap<>();

	/**
	 * Starts without unresponsive nodes.
	 * @param limit for how long a server may not reply
	 */
	UnresponsiveNodes(Duration limit) {
		this.limit = limit.toNanos();
	}

	/**
	 * Records a reply. {@link RedisConnections#ANY_SHARD} is unresponsive only while all
	 * servers are.
	 */
	void replied(String shard) {
		if (!this.since.isEmpty()) {
			this.since.remove(shard);
			this.since.remove(RedisConnections.ANY_SHARD);
		}
	}

	/**
	 * Forgets all requests without a reply.
	 */
	void reset() {
		this.since.clear();
	}

	/**
	 * Records that a request had no reply in time.
	 * @param sent when it was sent, by the clock of {@link System#nanoTime()}
	 * @return whether the server has exceeded the limit; true for one caller only, after
	 * which the time starts again
	 */
	boolean timedOut(String shard, long sent) {
		Long first = this.since.computeIfAbsent(shard, (any) -> sent);
		return System.nanoTime() - first >= this.limit && this.since.remove(shard, first);
	}

}
