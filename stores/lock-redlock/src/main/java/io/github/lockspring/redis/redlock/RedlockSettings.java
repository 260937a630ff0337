package io.github.lockspring.redis.redlock;

import java.time.Duration;

import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.redis.internal.RedisKeys;

/**
 * Settings of a {@link RedlockLockStore}; its builder describes most of them.
 *
 * @param nodeTimeout the longest wait for a single node, a fifth of the command timeout,
 * into which a vote, its confirmation or withdrawal and a margin must fit
 * @param clockDrift the part of a lease by which clocks may differ at its end: nodes keep
 * a lock longer than its holder relies on it
 */
record RedlockSettings(String keyPrefix, Duration commandTimeout, Duration connectTimeout, Duration nodeTimeout,
		double clockDrift, Duration maxTtl, boolean durable) {

	/**
	 * The part of the command timeout that a node gets: a request may send three scripts
	 * one after the other, and its caller and a slow machine need the rest.
	 */
	private static final int NODE_PART = 5;

	/**
	 * Quartz is right within a ten thousandth; a hundredth leaves room for a clock that
	 * is being corrected, and costs a lease of 30 seconds a third of one.
	 */
	private static final double CLOCK_DRIFT = 0.01;

	RedlockSettings {
		RedisKeys.checkPrefix(keyPrefix);
		StoreOptions.checkAtLeast("commandTimeout", commandTimeout, Duration.ofMillis(NODE_PART));
		StoreOptions.checkTimeout("connectTimeout", connectTimeout);
		StoreOptions.checkTimeout("maxTtl", maxTtl);
	}

	/**
	 * Creates settings with the timeout of a node and the drift that fit all.
	 */
	RedlockSettings(String keyPrefix, Duration commandTimeout, Duration connectTimeout, Duration maxTtl,
			boolean durable) {
		this(keyPrefix, commandTimeout, connectTimeout, commandTimeout.dividedBy(NODE_PART), CLOCK_DRIFT, maxTtl,
				durable);
	}

	/**
	 * Returns the timeout of a node in a request with a limit.
	 */
	Duration nodeTimeout(Duration limit) {
		return (limit.compareTo(this.nodeTimeout) < 0) ? limit : this.nodeTimeout;
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
		return this.durable ? 0 : this.maxTtl.plus(drift(this.maxTtl)).plusMillis(999).toSeconds() + 1;
	}

}
