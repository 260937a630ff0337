package io.github.lockspring.etcd;

import java.time.Duration;

import io.github.lockspring.internal.base.StoreOptions;

/**
 * Settings of an {@link EtcdLockStore}, see its builder.
 */
record EtcdStoreSettings(String keyPrefix, Duration commandTimeout, Duration connectTimeout) {

	EtcdStoreSettings {
		StoreOptions.checkKeyPrefix(keyPrefix);
		StoreOptions.checkTimeout("commandTimeout", commandTimeout);
		StoreOptions.checkTimeout("connectTimeout", connectTimeout);
	}

}
