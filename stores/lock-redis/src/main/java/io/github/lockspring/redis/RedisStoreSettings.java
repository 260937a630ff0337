package io.github.lockspring.redis;

import java.time.Duration;

import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.redis.internal.RedisKeys;

/**
 * Settings of a {@link RedisLockStore}; its builder describes them.
 */
record RedisStoreSettings(String keyPrefix, Duration commandTimeout, Duration connectTimeout, int replicaAcks) {

	/** Of the timeout of a command, so that the other half is left for the command. */
	private static final int ACKS_PART = 2;

	RedisStoreSettings {
		RedisKeys.checkPrefix(keyPrefix);
		StoreOptions.checkTimeout("commandTimeout", commandTimeout);
		StoreOptions.checkTimeout("connectTimeout", connectTimeout);
		if (replicaAcks < 0) {
			throw new IllegalArgumentException("replicaAcks must be at least 0, but is " + replicaAcks);
		}
		if (replicaAcks > 0) {
			StoreOptions.checkAtLeast("commandTimeout with replicaAcks", commandTimeout, Duration.ofMillis(ACKS_PART));
		}
	}

	/**
	 * Returns the longest wait for the replicas that acknowledge a lock.
	 */
	Duration replicaAckTimeout() {
		return this.commandTimeout.dividedBy(ACKS_PART);
	}

}
