package io.github.lockspring.jdbc;

import java.time.Duration;

import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.internal.sql.TableName;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a {@link JdbcLockStore}, see its builder.
 */
record JdbcStoreSettings(String keyPrefix, String table, int connections, Duration connectTimeout,
		@Nullable Duration purgeAfter) {

	/*
	 * Longer than any statement lasts, since an INSERT reads the clock before it locks
	 * the row
	 */
	private static final Duration MIN_PURGE_AFTER = Duration.ofHours(1);

	JdbcStoreSettings {
		StoreOptions.checkKeyPrefix(keyPrefix);
		TableName.check(table);
		StoreOptions.checkTimeout("connectTimeout", connectTimeout);
		if (connections < 2) {
			throw new IllegalArgumentException(
					"connections must be at least 2, one for renewals and one for all other requests, but is "
							+ connections);
		}
		if (purgeAfter != null && purgeAfter.compareTo(MIN_PURGE_AFTER) < 0) {
			throw new IllegalArgumentException("purgeAfter must be at least " + MIN_PURGE_AFTER
					+ ", since rows carry the fencing tokens, but is " + purgeAfter + ": use null to keep all rows");
		}
	}

}
