package io.github.lockspring.autoconfigure;

import javax.sql.DataSource;

import io.github.lockspring.fencing.FencingGuard;
import io.github.lockspring.jdbc.JdbcFencingGuard;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
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
 */
@AutoConfiguration(afterName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
		"org.springframework.boot.jdbc.autoconfigure.XADataSourceAutoConfiguration" })
@ConditionalOnClass({ DataSource.class, JdbcOperations.class, TransactionSynchronizationManager.class })
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
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
			throw new LockPropertyException("fencing.table", table, "it is no name of a table",
					"Choose a name of letters, digits and underscores, with a schema and a dot before it where need be.");
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(DataSourceScriptDatabaseInitializer.class)
	static class Schema {

		@Bean
		@ConditionalOnMissingBean
		FenceTableInitializer lockspringFenceTableInitializer(DataSource dataSource,
				DistributedLockProperties properties) {
			DistributedLockProperties.Fencing fencing = properties.fencing();
			// checks the name
			guard(dataSource, fencing.table());
			return new FenceTableInitializer(dataSource, fencing.table(), fencing.initializeSchema());
		}

	}

}
