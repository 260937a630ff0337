package io.github.lockspring.etcd;

import java.time.Duration;

import io.github.lockspring.internal.base.StoreOptions;

/**
 * Settings of an {@link EtcdLockStore}, see its builder.
 */
record EtcdStoreSettings(String keyPrefix, Duration commandTimeout, Duration connectTimeout, long tokenFloor) {

	/** Leaves room for as many revisions below tokens of 2^53. */
	private static final long MAX_FLOOR = 1L << 42;

	EtcdStoreSettings {
		StoreOptions.checkKeyPrefix(keyPrefix);
		StoreOptions.checkTimeout("commandTimeout", commandTimeout);
		StoreOptions.checkTimeout("connectTimeout", connectTimeout);
		if (tokenFloor < 0 || tokenFloor > MAX_FLOOR) {
			throw new IllegalArgumentException("tokenFloor must be 0 to " + MAX_FLOOR + ", not " + tokenFloor);
		}
	}

}
