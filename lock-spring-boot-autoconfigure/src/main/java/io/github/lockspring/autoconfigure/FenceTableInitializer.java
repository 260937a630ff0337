package io.github.lockspring.autoconfigure;

import javax.sql.DataSource;

import io.github.lockspring.autoconfigure.DistributedLockProperties.InitializeSchema;
import io.github.lockspring.fencing.JdbcFencingGuard;

/**
 * Creates the table of fencing tokens if it does not exist.
 */
final class FenceTableInitializer extends TableInitializer {

	private static final Table FENCING_TOKENS = new Table("fencing", "lock-fence-", JdbcFencingGuard.DEFAULT_TABLE,
			"fencing.initialize-schema");

	FenceTableInitializer(DataSource dataSource, String name, InitializeSchema mode) {
		super(dataSource, FENCING_TOKENS, name, mode);
	}

}
