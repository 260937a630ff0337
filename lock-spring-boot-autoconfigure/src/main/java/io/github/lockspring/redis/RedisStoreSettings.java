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
 */
public record RedisStoreSettings(String keyPrefix, Duration commandTimeout, boolean notifications) {

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
	}

	/**
	 * The defaults: {@code lock:}, one second, with notifications.
	 */
	public RedisStoreSettings() {
		this("lock:", Duration.ofSeconds(1), true);
	}

}
