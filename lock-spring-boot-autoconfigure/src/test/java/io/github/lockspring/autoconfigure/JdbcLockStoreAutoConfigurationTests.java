package io.github.lockspring.autoconfigure;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.jdbc.JdbcLockStore;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The store in a database, and when an application gets it.
 */
class JdbcLockStoreAutoConfigurationTests {

	private static final FilteredClassLoader WITHOUT_REDIS_MODULE = new FilteredClassLoader(
			"io.github.lockspring.zookeeper", "io.github.lockspring.etcd", "io.github.lockspring.redis");

	private final ApplicationContextRunner runner = Applications.withoutRedis()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				TransactionAutoConfiguration.class))
		.withPropertyValues("spring.datasource.generate-unique-name=true", "distributed-lock.store=");

	private final ApplicationContextRunner jdbc = this.runner.withPropertyValues("distributed-lock.store=jdbc");

	// choosing

	@Test
	void onlyStoreOnTheClassPathNeedsNoProperty() {
		this.runner.withClassLoader(WITHOUT_REDIS_MODULE).withUserConfiguration(LockedService.class).run((context) -> {
			assertThat(context.getBean(LockedService.class).work()).isTrue();
			assertThat(context).hasSingleBean(LockStore.class).hasSingleBean(JdbcLockStore.class);
			assertThat(rows(context)).containsExactly("lock:locked-service:work");
		});
	}

	@Test
	void severalStoresOnTheClassPathNeedTheProperty() {
		FailureAnalysis failure = StartupFailures.of(this.runner.withUserConfiguration(LockedService.class));
		assertThat(failure.getDescription())
			.contains("several stores on the class path (redis, zookeeper, etcd, jdbc), and distributed-lock.store"
					+ " chooses none");
		assertThat(failure.getAction()).contains("Set distributed-lock.store to one of them");
		this.jdbc.withUserConfiguration(LockedService.class)
			.run((context) -> assertThat(context).hasSingleBean(JdbcLockStore.class));
	}

	@Test
	void noStoreOnTheClassPathIsAnErrorThatNamesTheStarters() {
		FailureAnalysis failure = StartupFailures.of(this.runner
			.withClassLoader(new FilteredClassLoader("io.github.lockspring.redis", "io.github.lockspring.jdbc",
					"io.github.lockspring.zookeeper", "io.github.lockspring.etcd"))
			.withUserConfiguration(LockedService.class));
		assertThat(failure.getDescription()).contains("there is no module of a store on the class path");
		assertThat(failure.getAction()).contains("lock-spring-boot-starter,")
			.contains("lock-spring-boot-starter-jdbc")
			.contains("lock-spring-boot-starter-zookeeper")
			.contains("lock-spring-boot-starter-etcd");
	}

	@Test
	void jdbcWithoutItsModuleStopsTheStart() {
		FailureAnalysis failure = StartupFailures
			.of(this.jdbc.withClassLoader(new FilteredClassLoader("io.github.lockspring.jdbc"))
				.withUserConfiguration(LockedService.class));
		assertThat(failure.getDescription()).contains("distributed-lock.store=jdbc needs the module lock-jdbc");
		assertThat(failure.getAction()).contains("lock-spring-boot-starter-jdbc");
	}

	@Test
	void jdbcWithoutADataSourceStopsTheStart() {
		FailureAnalysis failure = StartupFailures.of(Applications.withoutRedis()
			.withPropertyValues("distributed-lock.store=jdbc")
			.withUserConfiguration(LockedService.class));
		assertThat(failure.getDescription()).contains("javax.sql.DataSource", "did not find any beans");
		assertThat(failure.getAction()).contains("spring.datasource.url");
	}

	@Test
	void wrongPasswordIsReportedAtOnceWithTheDatabase() throws SQLException {
		String url = "jdbc:h2:mem:wrong-password";
		try (Connection owner = new DriverManagerDataSource(url, "app", "correct-horse").getConnection()) {
			Applications.withoutRedis()
				.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
				.withPropertyValues("distributed-lock.store=jdbc", "distributed-lock.jdbc.initialize-schema=never",
						"distributed-lock.wait-time=5m", "spring.datasource.url=" + url + ";IFEXISTS=TRUE",
						"spring.datasource.username=app", "spring.datasource.password=battery-staple")
				.run((context) -> assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> context.getBean(LockTemplate.class).acquire(LockRequest.of("key")))
					.matches(LockUnavailableException::isPermanent)
					.withMessageStartingWith(
							"Lock 'key' could not be requested, and waiting does not help. Check the user")
					.havingCause()
					.withMessageStartingWith("The lock database (" + url + ", user 'app') rejects the login: ")
					.withMessageEndingWith("Check the user and the password")
					.withMessageNotContaining("battery-staple"));
			assertThat(owner.isValid(1)).isTrue();
		}
	}

	@Test
	void severalDataSourcesStopTheStart() {
		FailureAnalysis failure = StartupFailures
			.of(this.jdbc.withUserConfiguration(TwoDataSources.class, LockedService.class));
		assertThat(failure.getDescription()).contains("The locks cannot be kept in the application's database")
			.contains("several DataSource beans and none of them is primary")
			.contains("orders")
			.contains("customers");
		assertThat(failure.getAction()).contains("@Primary").contains("@LockDataSource");
	}

	@Test
	@Tag("jdbc-other-databases")
	void unknownDatabaseStopsTheStart() {
		FailureAnalysis failure = StartupFailures.of(this.jdbc.withUserConfiguration(Program.class)
			.withPropertyValues("spring.datasource.url=jdbc:derby:memory:none",
					"spring.datasource.driver-class-name=org.h2.Driver"));
		assertThat(failure.getDescription()).contains("locks cannot be kept in this database (DERBY)");
		assertThat(failure.getAction()).contains("@LockDataSource").contains("PostgreSQL");
	}

	@Test
	void invalidTableIsRefused() {
		FailureAnalysis failure = StartupFailures.of(this.jdbc.withPropertyValues("distributed-lock.jdbc.table=a;b"));
		assertThat(failure.getDescription()).contains("Invalid value 'a;b'", "'distributed-lock.jdbc.table'",
				"It is not the name of a table", "Choose a name of letters");
	}

	@ParameterizedTest
	@ValueSource(strings = { "1", "101" })
	void connectionsOutOfRangeAreRefused(String connections) {
		FailureAnalysis failure = StartupFailures
			.of(this.jdbc.withPropertyValues("distributed-lock.jdbc.connections=" + connections));
		assertThat(failure.getDescription()).contains("'distributed-lock.jdbc.connections'")
			.contains("between 2 and 100");
	}

	@Test
	void backsOffWhenUserDefinesStore() {
		this.jdbc.withUserConfiguration(LockStoreAutoConfigurationTests.OwnStoreConfiguration.class)
			.run((context) -> assertThat(context).hasSingleBean(LockStore.class)
				.hasBean("ownStore")
				.doesNotHaveBean("lockspringLockTableInitializer"));
	}

	// table

	@Test
	void tableHasTheNameOfTheProperty() {
		this.jdbc.withPropertyValues("distributed-lock.jdbc.table=shop_locks").run((context) -> {
			context.getBean(LockTemplate.class).acquire(LockRequest.of("a")).close();
			assertThat(
					context.getBean(JdbcTemplate.class).queryForList("SELECT lock_key FROM shop_locks", String.class))
				.containsExactly("lock:a");
		});
	}

	@Test
	@Tag("jdbc-tables")
	void tableOfAServerIsCreatedOnlyOnRequest() {
		Database database = Databases.postgres();
		ApplicationContextRunner postgres = on(database);
		postgres.run((context) -> assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> context.getBean(LockTemplate.class).acquire(LockRequest.of("a")))
			.withStackTraceContaining("lock_lease")
			.withStackTraceContaining("distributed-lock.jdbc.initialize-schema=always"));
		for (int start = 0; start < 2; start++) {
			postgres.withPropertyValues("distributed-lock.jdbc.initialize-schema=always")
				.withUserConfiguration(LockedService.class)
				.run((context) -> {
					assertThat(context.getBean(LockedService.class).work()).isTrue();
					assertThat(rows(context)).containsExactly("lock:locked-service:work");
				});
		}
	}

	@Test
	void fileOfH2IsNoEmbeddedDatabaseAndTheErrorSaysSo(@TempDir Path directory) {
		ApplicationContextRunner file = this.jdbc.withUserConfiguration(LockedService.class)
			.withPropertyValues("spring.datasource.url=jdbc:h2:file:" + directory.resolve("locks"));
		file.run((context) -> assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> context.getBean(LockedService.class).work())
			.havingCause()
			.withMessageContaining("distributed-lock.jdbc.initialize-schema=always (H2 in a file is not an embedded"));
		file.withPropertyValues("distributed-lock.jdbc.initialize-schema=always")
			.run((context) -> assertThat(context.getBean(LockedService.class).work()).isTrue());
	}

	@Test
	void applicationStartsWhileItsDatabaseIsDown() {
		this.jdbc.withUserConfiguration(LockedService.class)
			.withPropertyValues("spring.datasource.url=jdbc:postgresql://127.0.0.1:1/none",
					"distributed-lock.wait-time=100ms")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> context.getBean(LockedService.class).work());
			});
	}

	@Test
	void applicationWithoutLocksHasNoSecondPool() {
		this.jdbc.run((context) -> assertThat(context.getSourceApplicationContext()
			.getBeanFactory()
			.containsSingleton("lockspringLockConnectionPool")).isFalse());
	}

	// connections

	@Test
	void poolOfTheLocksHasTheSettingsOfTheApplicationsPool() {
		this.jdbc
			.withPropertyValues("spring.datasource.hikari.connection-init-sql=SET LOCK_TIMEOUT 1234",
					"spring.datasource.hikari.maximum-pool-size=7", "distributed-lock.jdbc.connections=3",
					"distributed-lock.command-timeout=700ms")
			.run((context) -> {
				HikariDataSource pool = poolOfLocks(context);
				HikariDataSource application = context.getBean(HikariDataSource.class);
				assertThat(pool).isNotSameAs(application);
				assertThat(pool.getConnectionInitSql()).isEqualTo("SET LOCK_TIMEOUT 1234");
				assertThat(pool.getMaximumPoolSize()).isEqualTo(3);
				assertThat(pool.getConnectionTimeout()).isEqualTo(350);
				assertThat(pool.getPoolName()).isEqualTo("lockspring");
				assertThat(application.getMaximumPoolSize()).isEqualTo(7);
				assertThat(context.getBean(LockEngine.class)).isNotNull();
			});
	}

	@Test
	void poolOfTheLocksIsClosedWithTheApplication() {
		List<HikariDataSource> pools = new ArrayList<>();
		this.jdbc.run((context) -> {
			context.getBean(LockTemplate.class).acquire(LockRequest.of("a")).close();
			pools.add(poolOfLocks(context));
		});
		assertThat(pools).singleElement().satisfies((pool) -> assertThat(pool.isClosed()).isTrue());
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	@Tag("jdbc-own-pool")
	void callersWithAllConnectionsOfTheApplicationStillGetLocks(boolean postgres) throws Exception {
		ApplicationContextRunner application = postgres
				? on(Databases.postgres()).withPropertyValues("distributed-lock.jdbc.initialize-schema=always")
				: this.jdbc;
		application.withPropertyValues("spring.datasource.hikari.maximum-pool-size=2").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			JdbcTemplate database = context.getBean(JdbcTemplate.class);
			HeldLock held = locks.acquire(LockRequest.of("contended"));
			ExecutorService threads = Executors.newFixedThreadPool(2);
			try {
				CountDownLatch inside = new CountDownLatch(2);
				List<Future<?>> callers = new ArrayList<>();
				for (int i = 0; i < 2; i++) {
					callers.add(threads.submit(() -> transaction.executeWithoutResult((status) -> {
						database.queryForObject("SELECT 1", Integer.class);
						inside.countDown();
						locks.acquire(LockRequest.of("contended").waitTime(Duration.ofSeconds(30))).close();
					})));
				}
				inside.await();
				held.close();
				for (Future<?> caller : callers) {
					caller.get();
				}
			}
			finally {
				threads.shutdownNow();
			}
		});
	}

	@Test
	@Tag("jdbc-transactions")
	void f25RollbackOfTheCallerReleasesNothingAndHidesNothing() {
		this.jdbc.run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			transaction.executeWithoutResult((status) -> {
				locks.tryAcquire(LockRequest.of("a")).orElseThrow();
				assertThat(rows(context)).as("committed already").contains("lock:a");
				status.setRollbackOnly();
			});
			assertThat(rows(context)).contains("lock:a");
		});
	}

	@Test
	@Tag("jdbc-lock-data-source")
	void dataSourceOfTheLocksIsUsedAsItIs() {
		this.jdbc.withUserConfiguration(OwnDataSource.class).run((context) -> {
			context.getBean(LockTemplate.class).acquire(LockRequest.of("a")).close();
			JdbcTemplate own = new JdbcTemplate(context.getBean("locks", DataSource.class));
			assertThat(own.queryForList("SELECT lock_key FROM lock_lease", String.class)).containsExactly("lock:a");
			assertThat(context.getBean(JdbcTemplate.class)
				.queryForList("SELECT 1 FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'LOCK_LEASE'")).isEmpty();
		});
	}

	@Test
	void sourceFromWhichNothingCanBeDerivedStopsTheStart() {
		FailureAnalysis failure = StartupFailures
			.of(this.jdbc.withUserConfiguration(StrangeDataSource.class, Program.class));
		assertThat(failure.getDescription()).contains("no connections of its own can be derived")
			.contains("StrangeDataSource");
		assertThat(failure.getAction()).contains("@LockDataSource");
	}

	@Test
	void sourceThatChoosesAmongDatabasesStopsTheStart() {
		FailureAnalysis failure = StartupFailures
			.of(this.jdbc.withUserConfiguration(DataSourceOfTenants.class, Program.class));
		assertThat(failure.getDescription()).contains("TenantDataSource chooses a database for each call");
		assertThat(failure.getAction()).contains("@LockDataSource");
	}

	@Test
	void sourceWithoutAPoolIsDerivedFromToo() {
		this.jdbc.withUserConfiguration(UnpooledDataSource.class).run((context) -> {
			context.getBean(LockTemplate.class).acquire(LockRequest.of("a")).close();
			assertThat(poolOfLocks(context).getJdbcUrl()).contains("unpooled");
		});
	}

	private ApplicationContextRunner on(Database database) {
		return this.jdbc.withPropertyValues("spring.datasource.url=" + database.url(),
				"spring.datasource.username=" + database.user());
	}

	private static List<String> rows(ApplicationContext context) {
		return context.getBean(JdbcTemplate.class).queryForList("SELECT lock_key FROM lock_lease", String.class);
	}

	private static HikariDataSource poolOfLocks(ApplicationContext context) {
		context.getBean(LockTemplate.class);
		Object pool = context.getBean("lockspringLockConnectionPool");
		return (HikariDataSource) ReflectionTestUtils.getField(pool, "dataSource");
	}

	@Configuration(proxyBeanMethods = false)
	static class Program {

		@Bean
		Object program(LockTemplate locks) {
			return new Object();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDataSources {

		@Bean
		DataSource orders() {
			return new DriverManagerDataSource("jdbc:h2:mem:orders");
		}

		@Bean
		DataSource customers() {
			return new DriverManagerDataSource("jdbc:h2:mem:customers");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnDataSource {

		@Bean(defaultCandidate = false)
		@LockDataSource
		DataSource locks() {
			return Databases.h2().dataSource();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class UnpooledDataSource {

		@Bean
		DataSource unpooled() {
			return new DriverManagerDataSource("jdbc:h2:mem:unpooled;DB_CLOSE_DELAY=-1", "sa", "");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class DataSourceOfTenants {

		@Bean
		DataSource dataSource() {
			AbstractRoutingDataSource tenants = new TenantDataSource();
			tenants.setTargetDataSources(Map.of("a", tenant("a"), "b", tenant("b")));
			tenants.setDefaultTargetDataSource(tenant("a"));
			tenants.afterPropertiesSet();
			return new LazyConnectionDataSourceProxy(tenants);
		}

		private static DataSource tenant(String name) {
			return DataSourceBuilder.create()
				.type(HikariDataSource.class)
				.url("jdbc:h2:mem:tenant-" + name)
				.username("sa")
				.build();
		}

	}

	static class TenantDataSource extends AbstractRoutingDataSource {

		@Override
		protected @Nullable Object determineCurrentLookupKey() {
			return null;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class StrangeDataSource {

		@Bean
		DataSource strange() {
			return new AbstractDataSource() {

				private final DataSource target = Databases.h2().dataSource();

				@Override
				public Connection getConnection() throws SQLException {
					return this.target.getConnection();
				}

				@Override
				public Connection getConnection(String username, String password) throws SQLException {
					return getConnection();
				}

			};
		}

	}

}
