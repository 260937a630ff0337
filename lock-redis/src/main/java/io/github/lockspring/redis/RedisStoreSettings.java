package io.github.lockspring.redis;

import java.time.Duration;

/**
 * Settings of a {@link RedisLockStore}.
 *
 * @param keyPrefix stands before each key; not empty, without braces
 * @param commandTimeout longest time that one command may take, connecting included; at
 * least a millisecond
 * @param notifications whether waiters queue and are told when it is their turn; without,
 * they ask again
 * @param replicaAcks how many replicas must have a lock, and each renewal of it, before
 * it counts; 0: none
 * @param replicaAckTimeout longest wait for these replicas, a part of the command
 * timeout; of no meaning without them
 */
public record RedisStoreSettings(String keyPrefix, Duration commandTimeout, boolean notifications, int replicaAcks,
		Duration replicaAckTimeout) {

	private static final Duration DEFAULT_ACK_TIMEOUT = Duration.ofMillis(500);

	/**
	 * Checks the settings.
	 * @throws IllegalArgumentException if one of them is not possible
	 */
	public RedisStoreSettings {
		if (keyPrefix.isEmpty()) {
			throw new IllegalArgumentException(
					"The key prefix of locks must not be empty: locks would share their names with other keys");
		}
		if (keyPrefix.indexOf('{') >= 0 || keyPrefix.indexOf('}') >= 0) {
			throw new IllegalArgumentException("The key prefix of locks must not have braces, but is '" + keyPrefix
					+ "': they decide about the hash slot, which is for each key to say");
		}
		if (commandTimeout.toMillis() < 1) {
			throw new IllegalArgumentException(
					"The command timeout of locks must be at least 1ms, but is " + commandTimeout);
		}
		if (replicaAcks < 0) {
			throw new IllegalArgumentException(
					"The number of replicas that acknowledge a lock is at least 0, not " + replicaAcks);
		}
		if (replicaAcks > 0 && (replicaAckTimeout.toMillis() < 1 || replicaAckTimeout.compareTo(commandTimeout) >= 0)) {
			throw new IllegalArgumentException(
					"The time to wait for replicas must be at least 1ms and shorter than " + "the command timeout of "
							+ commandTimeout + ", of which it is a part, but is " + replicaAckTimeout);
		}
	}

	/**
	 * Settings without acknowledgements of replicas.
	 * @param keyPrefix stands before each key
	 * @param commandTimeout longest time that one command may take
	 * @param notifications whether waiters queue and are told when it is their turn
	 */
	public RedisStoreSettings(String keyPrefix, Duration commandTimeout, boolean notifications) {
		this(keyPrefix, commandTimeout, notifications, 0, DEFAULT_ACK_TIMEOUT);
	}

	/**
	 * The same settings with acknowledgements of replicas.
	 * @param replicaAcks how many replicas must have a lock
	 * @param replicaAckTimeout longest wait for them
	 * @return the settings
	 */
	public RedisStoreSettings withReplicaAcks(int replicaAcks, Duration replicaAckTimeout) {
		return new RedisStoreSettings(this.keyPrefix, this.commandTimeout, this.notifications, replicaAcks,
				replicaAckTimeout);
	}

	/**
	 * The defaults: {@code lock:}, one second, with notifications, and without
	 * acknowledgements.
	 */
	public RedisStoreSettings() {
		this("lock:", Duration.ofSeconds(1), true);
	}

}
