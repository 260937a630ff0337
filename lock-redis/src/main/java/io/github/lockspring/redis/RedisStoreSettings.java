package io.github.lockspring.redis;

import java.time.Duration;

/**
 * Settings of a {@link RedisLockStore}.
 *
 * @param keyPrefix the prefix of all keys; not empty, without braces
 * @param commandTimeout the longest time for one command, at least one millisecond
 * @param connectTimeout the longest time that the first lock waits for a connection, at
 * least one millisecond
 * @param notifications whether waiters queue and are notified when it is their turn;
 * otherwise they poll
 * @param replicaAcks how many replicas must have a lock, and each renewal of it, before
 * it counts; 0 for none
 * @param replicaAckTimeout the longest wait for these replicas, a part of the command
 * timeout; ignored if there are none
 * @since 0.1
 */
public record RedisStoreSettings(String keyPrefix, Duration commandTimeout, Duration connectTimeout,
		boolean notifications, int replicaAcks, Duration replicaAckTimeout) {

	/**
	 * The longest time that the first lock waits for a connection by default.
	 */
	public static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(5);

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
		if (connectTimeout.toMillis() < 1) {
			throw new IllegalArgumentException(
					"The connect timeout of locks must be at least 1ms, but is " + connectTimeout);
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
	 * Creates settings with {@link #DEFAULT_CONNECT_TIMEOUT} and without acknowledgements
	 * of replicas.
	 * @param keyPrefix the prefix of all keys
	 * @param commandTimeout the longest time for one command
	 * @param notifications whether waiters queue and are notified when it is their turn
	 */
	public RedisStoreSettings(String keyPrefix, Duration commandTimeout, boolean notifications) {
		this(keyPrefix, commandTimeout, DEFAULT_CONNECT_TIMEOUT, notifications, 0, DEFAULT_ACK_TIMEOUT);
	}

	/**
	 * Returns these settings with another connect timeout.
	 * @param connectTimeout the longest time that the first lock waits for a connection
	 * @return the settings
	 */
	public RedisStoreSettings withConnectTimeout(Duration connectTimeout) {
		return new RedisStoreSettings(this.keyPrefix, this.commandTimeout, connectTimeout, this.notifications,
				this.replicaAcks, this.replicaAckTimeout);
	}

	/**
	 * Returns these settings with acknowledgements of replicas.
	 * @param replicaAcks how many replicas must have a lock
	 * @param replicaAckTimeout the longest wait for them
	 * @return the settings
	 */
	public RedisStoreSettings withReplicaAcks(int replicaAcks, Duration replicaAckTimeout) {
		return new RedisStoreSettings(this.keyPrefix, this.commandTimeout, this.connectTimeout, this.notifications,
				replicaAcks, replicaAckTimeout);
	}

	/**
	 * Creates the defaults: {@code lock:}, one second, with notifications, without
	 * acknowledgements.
	 */
	public RedisStoreSettings() {
		this("lock:", Duration.ofSeconds(1), true);
	}

}
