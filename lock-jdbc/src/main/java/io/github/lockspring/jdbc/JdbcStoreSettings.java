package io.github.lockspring.jdbc;

import java.time.Duration;

import io.github.lockspring.internal.sql.TableName;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a {@link JdbcLockStore}.
 *
 * @param keyPrefix the prefix of all keys; not empty
 * @param table the name of the table, unquoted, preceded by a schema and a dot where
 * needed
 * @param connections the largest number of connections in use at the same time, at least
 * two, of which one is for renewals only; the {@code DataSource} should offer as many
 * and, for PostgreSQL, one more
 * @param connectTimeout how long the first request waits for a connection
 * @param dialect the dialect of the database; null to find it by the database's name
 * @param purgeAfter how long ago a free lock was acquired last when its row is deleted;
 * at least an hour, and longer than the clock of the server may ever be set back; null to
 * keep all rows
 * @since 0.1
 */
public record JdbcStoreSettings(String keyPrefix, String table, int connections, Duration connectTimeout,
		@Nullable JdbcDialect dialect, @Nullable Duration purgeAfter) {

	/**
	 * The default name of the table.
	 */
	public static final String DEFAULT_TABLE = "lock_lease";

	/*
	 * Longer than any statement lasts: one that inserts a row has read the clock before
	 */
	private static final Duration MIN_PURGE_AFTER = Duration.ofHours(1);

	/**
	 * Checks the settings.
	 * @throws IllegalArgumentException if one of them is invalid
	 */
	public JdbcStoreSettings {
		if (keyPrefix.isEmpty()) {
			throw new IllegalArgumentException(
					"The key prefix of locks must not be empty: choose one such as 'lock:', and another one for each"
							+ " application that uses the same table and must not share locks");
		}
		TableName.check(table);
		if (connections < 2) {
			throw new IllegalArgumentException("The store needs at least 2 connections, not " + connections
					+ ": one for renewals, and one for all other requests");
		}
		if (purgeAfter != null && purgeAfter.compareTo(MIN_PURGE_AFTER) < 0) {
			throw new IllegalArgumentException("Rows must stay for at least " + MIN_PURGE_AFTER + ", not " + purgeAfter
					+ ", since they carry the fencing tokens: use null to keep all of them");
		}
	}

	/**
	 * Creates the defaults: {@code lock:}, the table {@value #DEFAULT_TABLE}, five
	 * connections, five seconds to connect, the dialect found by the database's name, and
	 * no row deleted.
	 */
	public JdbcStoreSettings() {
		this("lock:", DEFAULT_TABLE, 5, Duration.ofSeconds(5), null, null);
	}

}
