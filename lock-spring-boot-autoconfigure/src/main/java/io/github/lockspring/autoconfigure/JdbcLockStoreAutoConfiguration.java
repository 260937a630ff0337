package io.github.lockspring.autoconfigure;

import java.time.Duration;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import io.github.lockspring.internal.sql.TableName;
import io.github.lockspring.jdbc.JdbcLockStore;
import io.github.lockspring.store.LockStore;

import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Auto-configuration of the {@link LockStore} in a database, and of its table.
 *
 * @since 0.1
 */
@AutoConfiguration(afterName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
		"org.springframework.boot.jdbc.autoconfigure.XADataSourceAutoConfiguration" })
@ConditionalOnClass({ JdbcLockStore.class, DataSource.class, JdbcOperations.class, HikariDataSource.class,
		DataSourceBuilder.class, DataSourceScriptDatabaseInitializer.class })
@ConditionalOnLockStore(Store.JDBC)
@ConditionalOnBean(DataSource.class)
@ConditionalOnMissingBean(LockStore.class)
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class JdbcLockStoreAutoConfiguration {

	@Bean
	@Lazy
	LockConnectionPool lockspringLockConnectionPool(@LockDataSource ObjectProvider<DataSource> lockDataSource,
			ObjectProvider<DataSource> dataSources, DistributedLockProperties properties, Environment environment) {
		DataSource own = lockDataSource.getIfAvailable();
		int connections = properties.jdbc().connections();
		if (own != null) {
			return LockConnectionPool.of(own, connections);
		}
		// a pool reports a server that is down or refuses the login only after this time,
		// which has to be before the request is given up
		Duration timeout = LockTimeouts.min(LockTimeouts.command(properties, Store.JDBC, environment).dividedBy(2),
				LockTimeouts.CONNECT);
		return LockConnectionPool.derivedFrom(unique(dataSources), connections, timeout);
	}

	@Bean
	@Lazy
	@DependsOnDatabaseInitialization
	JdbcLockStore lockspringJdbcLockStore(LockConnectionPool connections, DistributedLockProperties properties) {
		return configure(JdbcLockStore.builder(connections.dataSource()), properties).name(connections.name()).build();
	}

	@Bean
	TableInitializer lockspringLockTableInitializer(@LockDataSource ObjectProvider<DataSource> lockDataSource,
			ObjectProvider<DataSource> dataSources, DistributedLockProperties properties) {
		DataSource own = lockDataSource.getIfAvailable();
		return new TableInitializer((own != null) ? own : unique(dataSources), TableInitializer.LEASES,
				table(properties), properties.jdbc().initializeSchema());
	}

	private static String table(DistributedLockProperties properties) {
		String table = properties.jdbc().table();
		try {
			return TableName.check(table);
		}
		catch (IllegalArgumentException ex) {
			throw PropertyChecks.invalid("jdbc.table", table, "It is not the name of a table",
					"Choose a name of letters, digits and underscores, with an optional schema and a dot before it");
		}
	}

	static JdbcLockStore.Builder configure(JdbcLockStore.Builder builder, DistributedLockProperties properties) {
		DistributedLockProperties.Jdbc jdbc = properties.jdbc();
		return builder.keyPrefix(properties.keyPrefix())
			.table(jdbc.table())
			.connections(jdbc.connections())
			.purgeAfter(jdbc.purgeAfter());
	}

	private static DataSource unique(ObjectProvider<DataSource> dataSources) {
		try {
			return dataSources.getObject();
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw LockConnectionPool.refused(
					"there are several DataSource beans and none of them is primary: "
							+ String.join(", ", String.valueOf(ex.getBeanNamesFound())),
					"Mark the one whose database has the locks with @Primary, or define one for the locks with"
							+ " @LockDataSource.",
					ex);
		}
	}

}
