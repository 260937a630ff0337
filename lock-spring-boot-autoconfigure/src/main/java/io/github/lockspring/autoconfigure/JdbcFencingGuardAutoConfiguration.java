package io.github.lockspring.autoconfigure;

import javax.sql.DataSource;

import io.github.lockspring.autoconfigure.internal.ConditionalOnLocksEnabled;
import io.github.lockspring.FencingGuard;
import io.github.lockspring.jdbc.JdbcFencingGuard;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Auto-configuration of the {@link FencingGuard} in the application's database, and of
 * its table.
 *
 * @since 0.1
 */
@AutoConfiguration(afterName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
		"org.springframework.boot.jdbc.autoconfigure.XADataSourceAutoConfiguration" })
@ConditionalOnClass({ JdbcFencingGuard.class, DataSource.class, JdbcOperations.class,
		TransactionSynchronizationManager.class })
@ConditionalOnLocksEnabled
@ConditionalOnSingleCandidate(DataSource.class)
@ConditionalOnMissingBean(FencingGuard.class)
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class JdbcFencingGuardAutoConfiguration {

	@Bean
	@DependsOnDatabaseInitialization
	JdbcFencingGuard lockspringJdbcFencingGuard(DataSource dataSource, DistributedLockProperties properties) {
		return guard(dataSource, properties.fencing().table());
	}

	private static JdbcFencingGuard guard(DataSource dataSource, String table) {
		try {
			return new JdbcFencingGuard(dataSource, table);
		}
		catch (IllegalArgumentException ex) {
			throw new LockPropertyException("fencing.table", table, "it is not the name of a table",
					"Choose a name of letters, digits and underscores, with an optional schema and a dot before it.");
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(DataSourceScriptDatabaseInitializer.class)
	static class Schema {

		@Bean
		FenceTableInitializer lockspringFenceTableInitializer(DataSource dataSource,
				DistributedLockProperties properties) {
			DistributedLockProperties.Fencing fencing = properties.fencing();
			// validates the name
			guard(dataSource, fencing.table());
			return new FenceTableInitializer(dataSource, fencing.table(), fencing.initializeSchema());
		}

	}

}
