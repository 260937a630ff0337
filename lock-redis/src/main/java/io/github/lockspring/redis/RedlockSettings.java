package io.github.lockspring.redis;

import java.time.Duration;

/**
 * How a {@link RedlockLockStore} works.
 *
 * @param keyPrefix what stands before the users' keys; not empty, without braces
 * @param commandTimeout longest time for a whole request, at least 1 millisecond,
 * whatever else was asked for
 * @param nodeTimeout longest time to wait for a single node, at most a third of the
 * command timeout: a vote, its confirmation or withdrawal and a margin must fit in. A
 * node that has never answered is given more, since connecting takes longer
 * @param clockDrift the part of a lease by which clocks may differ at its end, 0 to 0.5:
 * nodes keep a lock longer than its holder counts on it
 * @param longestTtl the longest lease in use, at least 1 millisecond: after a restart a
 * node has no vote for as long. Longer leases are refused
 * @param durable whether all nodes still know after a restart what they have ever
 * answered ({@code appendfsync always}): then restarts do not matter, nor does the
 * longest ttl
 */
public record RedlockSettings(String keyPrefix, Duration commandTimeout, Duration nodeTimeout, double clockDrift,
		Duration longestTtl, boolean durable) {

	/**
	 * Checks the settings.
	 * @throws IllegalArgumentException if one of them is not possible
	 */
	public RedlockSettings {
		// which has the same rules for these two
		new RedisStoreSettings(keyPrefix, commandTimeout, false);
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
	 * The defaults: {@code lock:}, one second, 200 milliseconds, one percent, 30 seconds,
	 * not durable.
	 */
	public RedlockSettings() {
		this("lock:", Duration.ofSeconds(1), Duration.ofMillis(200), 0.01, Duration.ofSeconds(30), false);
	}

	/**
	 * By how much a clock may be off at the end of a lease.
	 */
	Duration drift(Duration lease) {
		return Duration.ofNanos((long) Math.ceil(lease.toNanos() * this.clockDrift));
	}

	/**
	 * For how many seconds after its start a node has no vote; 0: it always has one. A
	 * server counts its uptime in whole seconds and may be ahead by one.
	 */
	long pauseSeconds() {
		return this.durable ? 0 : this.longestTtl.plus(drift(this.longestTtl)).plusMillis(999).toSeconds() + 1;
	}

}
