package io.github.lockspring.redis.redlock;

import io.github.lockspring.redis.RedisStoreSettings;
import java.time.Duration;

/**
 * Settings of a {@link RedlockLockStore}.
 *
 * @param keyPrefix the prefix of all keys; not empty, without braces
 * @param commandTimeout the longest time for a whole request, at least 1 millisecond
 * @param connectTimeout the longest time that the first lock waits for connections to a
 * majority of the nodes, at least 1 millisecond
 * @param nodeTimeout the longest wait for a single node, at least 1 millisecond and at
 * most a third of the command timeout, into which a vote, its confirmation or withdrawal
 * and a margin must fit. A node that has never replied gets more time for connecting
 * @param clockDrift the part of a lease by which clocks may differ at its end, 0 to 0.5:
 * nodes keep a lock longer than its holder relies on it
 * @param longestTtl the longest lease in use, at least 1 millisecond: after a restart a
 * node has no vote for that time. Longer leases are refused
 * @param durable whether no node loses anything it has acknowledged in a restart
 * ({@code appendfsync always}): nodes then vote at once, and the longest ttl is ignored
 * @since 0.1
 */
public record RedlockSettings(String keyPrefix, Duration commandTimeout, Duration connectTimeout, Duration nodeTimeout,
		double clockDrift, Duration longestTtl, boolean durable) {

	/**
	 * Checks the settings.
	 * @throws IllegalArgumentException if one of them is invalid
	 */
	public RedlockSettings {
		// checks these three in the same way
		new RedisStoreSettings(keyPrefix, commandTimeout, false).withConnectTimeout(connectTimeout);
		if (nodeTimeout.toMillis() < 1 || nodeTimeout.compareTo(commandTimeout.dividedBy(3)) > 0) {
			throw new IllegalArgumentException("The node timeout must be at least 1ms and at most a third of the "
					+ "command timeout of " + commandTimeout + ", but is " + nodeTimeout);
		}
		if (!(clockDrift >= 0 && clockDrift <= 0.5)) {
			throw new IllegalArgumentException("The clock drift must be between 0 and 0.5, but is " + clockDrift);
		}
		if (longestTtl.toMillis() < 1) {
			throw new IllegalArgumentException("The longest ttl must be at least 1ms, but is " + longestTtl);
		}
	}

	/**
	 * Creates the defaults: {@code lock:}, one second, five seconds, 200 milliseconds,
	 * one percent, 30 seconds, not durable.
	 */
	public RedlockSettings() {
		this("lock:", Duration.ofSeconds(1), RedisStoreSettings.DEFAULT_CONNECT_TIMEOUT, Duration.ofMillis(200), 0.01,
				Duration.ofSeconds(30), false);
	}

	/**
	 * Returns by how much clocks may differ at the end of a lease.
	 */
	Duration drift(Duration lease) {
		return Duration.ofNanos((long) Math.ceil(lease.toNanos() * this.clockDrift));
	}

	/**
	 * Returns for how many seconds after its start a node has no vote. A server counts
	 * its uptime in whole seconds and may be ahead by one.
	 */
	long pauseSeconds() {
		return this.durable ? 0 : this.longestTtl.plus(drift(this.longestTtl)).plusMillis(999).toSeconds() + 1;
	}

}
