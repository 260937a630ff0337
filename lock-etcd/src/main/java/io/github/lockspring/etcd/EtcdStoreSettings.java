package io.github.lockspring.etcd;

import java.time.Duration;

/**
 * Settings of an {@link EtcdLockStore}.
 *
 * @param keyPrefix the prefix of all keys; not empty
 * @param root the beginning of the names of all keys in etcd; not empty
 * @param commandTimeout longest wait for a response of a server
 * @param connectTimeout how long the first request waits for a connection
 * @since 0.1
 */
public record EtcdStoreSettings(String keyPrefix, String root, Duration commandTimeout, Duration connectTimeout) {

	/**
	 * Checks the values.
	 * @throws IllegalArgumentException if a prefix is empty
	 */
	public EtcdStoreSettings {
		if (keyPrefix.isEmpty() || root.isEmpty()) {
			throw new IllegalArgumentException("keyPrefix and root must not be empty");
		}
	}

	/**
	 * Creates the settings of an application that sets nothing.
	 */
	public EtcdStoreSettings() {
		this("lock:", "lockspring", Duration.ofSeconds(2), Duration.ofSeconds(5));
	}

}
