package io.github.lockspring.redis;

import java.time.Duration;

/**
 * Settings of a {@link RedisLockStore}.
 *
 * @param keyPrefix the prefix of all keys; not empty, without braces
 * @param commandTimeout the longest time for one command, connecting included; at least
 * one millisecond
 * @param notifications whether waiters queue and are notified when it is their turn;
 * otherwise they poll
 * @param replicaAcks how many replicas must have a lock, and each renewal of it, before
 * it counts; 0 for none
 * @param replicaAckTimeout the longest wait for these replicas, a part of the command
 * timeout; ignored if there are none
 * @since 0.1
 */
public record RedisStoreSettings(String keyPrefix, Duration commandTimeout, boolean notifications, int replicaAcks,
		Duration replicaAckTimeout) {

	private static final Duration DEFAULT_ACK_TIMEOUT = Duration.ofMillis(500);

	/**
	 * Checks the settings.
	 * @throws IllegalArgumentException if one of them is invalid
	 */
	public RedisStoreSettings {
		if (keyPrefix.isEmpty()) {
			throw new IllegalArgumentException(
					"The key prefix of locks must not be empty: locks could have the names of other keys");
		}
		if (keyPrefix.indexOf('{') >= 0 || keyPrefix.indexOf('}') >= 0) {
			throw new IllegalArgumentException("The key prefix of locks must not have braces, but is '" + keyPrefix
					+ "': they would put all keys into one hash slot");
		}
		if (commandTimeout.toMillis() < 1) {
			throw new IllegalArgumentException(
					"The command timeout of locks must be at least 1ms, but is " + commandTimeout);
		}
		if (replicaAcks < 0) {
			throw new IllegalArgumentException(
					"The number of replicas that acknowledge a lock must be at least 0, but is " + replicaAcks);
		}
		if (replicaAcks > 0 && (replicaAckTimeout.toMillis() < 1 || replicaAckTimeout.compareTo(commandTimeout) >= 0)) {
			throw new IllegalArgumentException(
					"The time to wait for replicas must be at least 1ms and shorter than the command timeout of "
							+ commandTimeout + ", of which it is a part, but is " + replicaAckTimeout);
		}
	}

	/**
	 * Creates settings without acknowledgements of replicas.
	 * @param keyPrefix the prefix of all keys
	 * @param commandTimeout the longest time for one command
	 * @param notifications whether waiters queue and are notified when it is their turn
	 */
	public RedisStoreSettings(String keyPrefix, Duration commandTimeout, boolean notifications) {
		this(keyPrefix, commandTimeout, notifications, 0, DEFAULT_ACK_TIMEOUT);
	}

	/**
	 * Returns these settings with acknowledgements of replicas.
	 * @param replicaAcks how many replicas must have a lock
	 * @param replicaAckTimeout the longest wait for them
	 * @return the settings
	 */
	public RedisStoreSettings withReplicaAcks(int replicaAcks, Duration replicaAckTimeout) {
		return new RedisStoreSettings(this.keyPrefix, this.commandTimeout, this.notifications, replicaAcks,
				replicaAckTimeout);
	}

	/**
	 * Creates the defaults: {@code lock:}, one second, with notifications, without
	 * acknowledgements.
	 */
	public RedisStoreSettings() {
		this("lock:", Duration.ofSeconds(1), true);
	}

}
