package io.github.lockspring.jdbc;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Settings of a {@link JdbcLockStore}.
 *
 * @param keyPrefix the prefix of all keys; not empty
 * @param table the name of the table, unquoted, preceded by a schema and a dot where
 * needed
 * @param connections the largest number of connections in use at the same time, at least
 * two, of which one is for renewals only; the {@code DataSource} should offer as many
 * @param connectTimeout how long the first request waits for a connection
 * @param dialect the dialect of the database; null to find it by the database's name
 * @since 0.1
 */
public record JdbcStoreSettings(String keyPrefix, String table, int connections, Duration connectTimeout,
		@Nullable JdbcDialect dialect) {

	/**
	 * The default name of the table.
	 */
	public static final String DEFAULT_TABLE = "lock_lease";

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
	}

	/**
	 * Creates the defaults: {@code lock:}, the table {@value #DEFAULT_TABLE}, five
	 * connections, five seconds to connect, and the dialect found by the database's name.
	 */
	public JdbcStoreSettings() {
		this("lock:", DEFAULT_TABLE, 5, Duration.ofSeconds(5), null);
	}

}
