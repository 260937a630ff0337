package io.github.lockspring.autoconfigure;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import org.h2.jdbcx.JdbcConnectionPool;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * The store in a database, and when an application gets it.
 */
@ExtendWith(OutputCaptureExtension.class)
class JdbcLockStoreAutoConfigurationTests {

	private final ApplicationContextRunner jdbc = Applications.withoutRedis()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				TransactionAutoConfiguration.class))
		.withPropertyValues("spring.datasource.generate-unique-name=true", "distributed-lock.store=jdbc");

	@Test
	void wrongPasswordIsReportedAtOnceWithTheDatabase() throws SQLException {
		String url = "jdbc:h2:mem:wrong-password";
		try (Connection owner = new DriverManagerDataSource(url, "app", "correct-horse").getConnection()) {
			this.jdbc
				.withPropertyValues("distributed-lock.jdbc.initialize-schema=never", "distributed-lock.wait-time=5m",
						"spring.datasource.url=" + url + ";IFEXISTS=TRUE", "spring.datasource.username=app",
						"spring.datasource.password=battery-staple", "distributed-lock.fencing.initialize-schema=never")
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

	@ParameterizedTest
	@MethodSource
	void dataSourceThatLocksCannotUseStopsTheStart(Map<String, DataSource> dataSources, String problem) {
		ApplicationContextRunner application = this.jdbc.withUserConfiguration(LockedService.class);
		for (String name : dataSources.keySet()) {
			application = application.withBean(name, DataSource.class, () -> dataSources.get(name));
		}
		FailureAnalysis failure = StartupFailures.of(application);
		assertThat(failure.getDescription())
			.contains("The locks cannot be kept in the application's database: " + problem);
		assertThat(failure.getAction()).contains("@LockDataSource");
	}

	static Stream<Arguments> dataSourceThatLocksCannotUseStopsTheStart() {
		DataSource pool = JdbcConnectionPool.create("jdbc:h2:mem:pool", "sa", "");
		return Stream.of(
				arguments(Map.of("orders", pool, "customers", pool),
						"there are several DataSource beans and none of them is primary"),
				arguments(Map.of("pool", pool), "no connections of its own can be derived"),
				arguments(Map.of("tenants", new LazyConnectionDataSourceProxy(new TenantDataSource(pool))),
						"JdbcLockStoreAutoConfigurationTests.TenantDataSource chooses a database for each call"));
	}

	@Test
	@Tag("jdbc-other-databases")
	void unknownDatabaseStopsTheStart() {
		FailureAnalysis failure = StartupFailures.of(this.jdbc.withUserConfiguration(LockedService.class)
			.withPropertyValues("spring.datasource.url=jdbc:derby:memory:none",
					"spring.datasource.driver-class-name=org.h2.Driver"));
		assertThat(failure.getDescription()).contains("locks cannot be kept in this database (DERBY)");
		assertThat(failure.getAction()).contains("@LockDataSource", "PostgreSQL");
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc.table", "fencing.table" })
	void textThatIsNoNameOfATableStopsTheStart(String property) {
		FailureAnalysis failure = StartupFailures
			.of(this.jdbc.withPropertyValues("distributed-lock." + property + "=a;b"));
		assertThat(failure.getDescription()).contains("Invalid value 'a;b'", "'distributed-lock." + property + "'",
				"It is not the name of a table", "Choose a name of letters");
	}

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

	@ParameterizedTest // defect 41
	@ValueSource(booleans = { true, false })
	void startNamesTheTablesThatAreMissingAndTheirScripts(boolean postgres, @TempDir Path directory,
			CapturedOutput output) {
		ApplicationContextRunner database = postgres ? on(Databases.postgres())
				: this.jdbc.withPropertyValues("spring.datasource.url=jdbc:h2:file:" + directory.resolve("locks"));
		database.withUserConfiguration(FencedService.class).run((context) -> {
			assertThat(context).hasNotFailed();
			await().untilAsserted(() -> assertThat(output.toString()).contains("The lock table 'lock_lease'",
					"lock-lease-*.sql", "The table of fencing tokens 'lock_fence'",
					"lock-fence-" + (postgres ? "postgresql" : "h2") + ".sql"));
		});
	}

	@Test
	void startSaysNothingAboutTheTableOfFencingTokensWhereNothingIsFenced(CapturedOutput output) {
		on(Databases.postgres()).withUserConfiguration(LockedService.class).run((context) -> {
			await().untilAsserted(() -> assertThat(output.toString()).contains("lock_lease"));
			assertThat(output).doesNotContain("lock_fence");
		});
	}

	@Test
	void applicationWithoutLocksHasNoSecondPool() {
		this.jdbc.run((context) -> assertThat(context.getSourceApplicationContext()
			.getBeanFactory()
			.containsSingleton("lockspringLockConnectionPool")).isFalse());
	}

	@Test
	void poolOfTheLocksHasTheSettingsOfTheApplicationsPool() {
		this.jdbc
			.withPropertyValues("spring.datasource.hikari.connection-init-sql=SET LOCK_TIMEOUT 1234",
					"spring.datasource.hikari.maximum-pool-size=7", "distributed-lock.jdbc.connections=3",
					"distributed-lock.command-timeout=700ms")
			.run((context) -> {
				HikariDataSource pool = poolOfLocks(context);
				HikariDataSource application = context.getBean(HikariDataSource.class);
				assertThat(pool.getConnectionInitSql()).isEqualTo("SET LOCK_TIMEOUT 1234");
				assertThat(pool.getMaximumPoolSize()).isEqualTo(3);
				assertThat(pool.getConnectionTimeout()).isEqualTo(350);
				assertThat(pool.getPoolName()).isEqualTo("lockspring");
				assertThat(application.getMaximumPoolSize()).isEqualTo(7);
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
	void callersWithAllConnectionsOfTheApplicationStillGetLocks(boolean postgres) {
		ApplicationContextRunner application = postgres
				? on(Databases.postgres()).withPropertyValues("distributed-lock.jdbc.initialize-schema=always")
				: this.jdbc;
		application.withPropertyValues("spring.datasource.hikari.maximum-pool-size=2").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			JdbcTemplate database = context.getBean(JdbcTemplate.class);
			HeldLock held = locks.acquire(LockRequest.of("contended"));
			CountDownLatch inside = new CountDownLatch(2);
			Runnable caller = () -> transaction.executeWithoutResult((status) -> {
				database.queryForObject("SELECT 1", Integer.class);
				inside.countDown();
				locks.acquire(LockRequest.of("contended").waitTime(Duration.ofSeconds(30))).close();
			});
			Executor threads = (task) -> new Thread(task).start();
			CompletableFuture<Void> callers = CompletableFuture.allOf(CompletableFuture.runAsync(caller, threads),
					CompletableFuture.runAsync(caller, threads));
			inside.await();
			held.close();
			callers.get(1, TimeUnit.MINUTES);
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
	void sourceWithoutAPoolIsDerivedFromToo() {
		DataSource unpooled = new DriverManagerDataSource("jdbc:h2:mem:unpooled;DB_CLOSE_DELAY=-1", "sa", "");
		this.jdbc.withBean(DataSource.class, () -> unpooled).run((context) -> {
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
	static class OwnDataSource {

		@Bean(defaultCandidate = false)
		@LockDataSource
		DataSource locks() {
			return Databases.h2().dataSource();
		}

	}

	static class TenantDataSource extends AbstractRoutingDataSource {

		TenantDataSource(DataSource tenant) {
			setTargetDataSources(Map.of());
			setDefaultTargetDataSource(tenant);
			afterPropertiesSet();
		}

		@Override
		protected @Nullable Object determineCurrentLookupKey() {
			return null;
		}

	}

	/** Needs both tables. */
	static class FencedService {

		@DistributedLock(name = "fenced-service", key = "'work'")
		@Transactional
		@Fenced
		public void work() {
		}

	}

}
