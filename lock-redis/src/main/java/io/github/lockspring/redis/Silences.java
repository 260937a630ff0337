package io.github.lockspring.redis;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How long servers have not answered anything. Thread-safe.
 */
final class Silences {

	private final long patience;

	/** When the first of those requests was asked that were not answered. */
	private final Map<String, Long> since = new ConcurrentHashMap<>();

	/**
	 * Nobody is silent.
	 * @param patience for how long a server may answer nothing
	 */
	Silences(Duration patience) {
		this.patience = patience.toNanos();
	}

	/**
	 * Notes an answer. Whoever asks any server is silent only while all are.
	 */
	void answered(String shard) {
		if (!this.since.isEmpty()) {
			this.since.remove(shard);
			this.since.remove(RedisConnections.ANY_LANE);
		}
	}

	/**
	 * Begins anew for everybody.
	 */
	void forget() {
		this.since.clear();
	}

	/**
	 * Notes that a request was not answered in time.
	 * @param asked when, by the clock of {@link System#nanoTime()}
	 * @return whether that has been so for too long; said to one caller, and then the
	 * time begins anew
	 */
	boolean unanswered(String shard, long asked) {
		Long first = this.since.computeIfAbsent(shard, (any) -> asked);
		return System.nanoTime() - first >= this.patience && this.since.remove(shard, first);
	}

}
