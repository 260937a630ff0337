package io.github.lockspring.autoconfigure;

import javax.sql.DataSource;

import io.github.lockspring.autoconfigure.DistributedLockProperties.InitializeSchema;
import io.github.lockspring.jdbc.JdbcLockStore;

/**
 * Creates the table of locks if it does not exist.
 */
final class LockTableInitializer extends TableInitializer {

	private static final Table LOCKS = new Table("jdbc", "lock-lease-", JdbcLockStore.DEFAULT_TABLE,
			"jdbc.initialize-schema");

	LockTableInitializer(DataSource dataSource, String name, InitializeSchema mode) {
		super(dataSource, LOCKS, name, mode);
	}

}
