package io.github.lockspring.autoconfigure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import io.github.lockspring.FencingGuard;
import io.github.lockspring.LockEvent;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.fencing.JdbcFencingGuard;
import io.github.lockspring.internal.fencing.FencedBeanPostProcessor;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What an application gets that has a database and locks.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockFencingAutoConfigurationTests {

	private static final String NOT_ELIGIBLE = "is not eligible for getting processed by all BeanPostProcessors";

	private final ApplicationContextRunner runner = Applications.inMemory()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				TransactionAutoConfiguration.class, TransactionManagerCustomizationAutoConfiguration.class))
		.withPropertyValues("spring.datasource.generate-unique-name=true");

	private final ApplicationContextRunner shop = this.runner.withUserConfiguration(ShopConfiguration.class);

	@Test
	void annotatedMethodIsFencedInAnEmbeddedDatabase(CapturedOutput output) {
		this.shop.run((context) -> {
			assertThat(context).hasSingleBean(FencingGuard.class).hasSingleBean(JdbcFencingGuard.class);
			context.getBean(Shop.class).sell("a");
			context.getBean(Shop.class).sell("a");
			assertThat(sold(context)).containsExactly("a", "a");
			assertThat(context.getBean(JdbcTemplate.class).queryForList("SELECT resource, uses FROM lock_fence"))
				.singleElement()
				.hasToString("{RESOURCE=shop:a, USES=2}");
			assertThat(output).doesNotContain(NOT_ELIGIBLE);
		});
	}

	@Test
	void f03CallWithALateTokenIsRolledBack() {
		this.shop.run((context) -> {
			context.getBean(Shop.class).sell("a");
			context.getBean(JdbcTemplate.class).update("UPDATE lock_fence SET fencing_token = ?", Long.MAX_VALUE);
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> context.getBean(Shop.class).sell("a"));
			assertThat(sold(context)).containsExactly("a");
		});
	}

	@Test
	void guardIsCalledInsideTheTransactionInsideTheLock() {
		this.runner.withUserConfiguration(NotedConfiguration.class).run((context) -> {
			context.getBean(NotedShop.class).sell();
			assertThat(context.getBean(Log.class)).containsExactly("locked", "begun", "fenced", "sold", "committed",
					"released");
		});
	}

	@Test
	void transactionMayBeThatOfACallerAndMustBeOne() {
		this.shop.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			transaction.executeWithoutResult((status) -> shop.sellInATransactionOfTheCaller("a"));
			assertThat(sold(context)).containsExactly("a");
			assertThatIllegalStateException().isThrownBy(() -> shop.sellInATransactionOfTheCaller("b"))
				.withMessageContainingAll("shop:b", "without a transaction", "@Transactional");
			assertThat(sold(context)).containsExactly("a");
		});
	}

	@Test
	void nothingIsFencedWhereLocksAreSwitchedOff() {
		this.shop.withPropertyValues("distributed-lock.enabled=false").run((context) -> {
			assertThat(context).doesNotHaveBean(JdbcFencingGuard.class)
				.doesNotHaveBean(FencedBeanPostProcessor.class)
				.doesNotHaveBean("lockspringFenceTableInitializer");
			context.getBean(Shop.class).sell("a");
			context.getBean(FencingGuard.class).check("a", 1);
			assertThat(sold(context)).containsExactly("a");
		});
	}

	@Test
	void applicationWithoutJdbcStarts() {
		Applications.inMemory()
			.withClassLoader(new FilteredClassLoader("org.springframework.jdbc", "org.springframework.boot.jdbc",
					"org.springframework.boot.sql", "javax.sql"))
			.withUserConfiguration(LockedService.class)
			.run((context) -> {
				assertThat(context).doesNotHaveBean(FencingGuard.class);
				assertThat(context.getBean(LockedService.class).work()).isTrue();
			});
	}

	@Test
	void fencingNeedsNoModuleOfAStore() {
		this.runner
			.withClassLoader(new FilteredClassLoader("io.github.lockspring.jdbc", "io.github.lockspring.redis",
					"io.github.lockspring.zookeeper", "io.github.lockspring.etcd"))
			.run((context) -> {
				TransactionTemplate transaction = new TransactionTemplate(
						context.getBean(PlatformTransactionManager.class));
				transaction.executeWithoutResult((status) -> context.getBean(JdbcFencingGuard.class).check("a", 1));
				assertThat(context.getBean(JdbcTemplate.class).queryForList("SELECT uses FROM lock_fence", Long.class))
					.containsExactly(1L);
			});
	}

	@Test
	void applicationWithoutTransactionsStarts() {
		Applications.inMemory()
			.withClassLoader(new FilteredClassLoader("org.springframework.transaction", "org.springframework.dao",
					"org.springframework.jdbc", "org.springframework.boot.jdbc"))
			.withUserConfiguration(LockedService.class)
			.run((context) -> {
				assertThat(context).doesNotHaveBean(FencingGuard.class);
				assertThat(context.getBean(LockedService.class).work()).isTrue();
			});
	}

	@Test
	void annotationWithoutADatabaseStopsTheStartWithAnExplanation() {
		FailureAnalysis failure = StartupFailures.of(Applications.inMemory()
			.withClassLoader(new FilteredClassLoader("org.springframework.jdbc"))
			.withUserConfiguration(GuardlessConfiguration.class));
		assertThat(failure.getDescription()).contains("A @Fenced cannot be used")
			.contains("GuardlessService.work()")
			.contains("Problem: there is no FencingGuard bean");
		assertThat(failure.getAction()).contains("spring-boot-starter-jdbc");
	}

	@Test
	void backsOffWhenUserDefinesGuard() {
		this.runner.withUserConfiguration(NotedConfiguration.class)
			.run((context) -> assertThat(context).hasSingleBean(FencingGuard.class)
				.doesNotHaveBean(JdbcFencingGuard.class)
				.doesNotHaveBean("lockspringFenceTableInitializer"));
	}

	@Test
	void backsOffWhereThereAreSeveralDataSources() {
		this.runner.withUserConfiguration(TwoDataSourcesConfiguration.class)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(FencingGuard.class));
	}

	@Test
	void tableMayHaveAnotherName() {
		this.shop.withPropertyValues("distributed-lock.fencing.table=public.shop_fences").run((context) -> {
			context.getBean(Shop.class).sell("a");
			assertThat(
					context.getBean(JdbcTemplate.class).queryForList("SELECT resource FROM shop_fences", String.class))
				.containsExactly("shop:a");
		});
	}

	@Test
	void wrongNameOfATableStopsTheStart() {
		FailureAnalysis failure = StartupFailures
			.of(this.runner.withPropertyValues("distributed-lock.fencing.table=lock-fence"));
		assertThat(failure.getDescription()).contains("'distributed-lock.fencing.table'").contains("'lock-fence'");
		assertThat(failure.getAction()).isNotBlank().endsWith(".");
	}

	@Test
	void tableThatIsNotToBeMadeIsNotMade() {
		this.shop.withPropertyValues("distributed-lock.fencing.initialize-schema=never")
			.run((context) -> assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
				.isThrownBy(() -> context.getBean(Shop.class).sell("a"))
				.withMessageContainingAll("lock_fence", "lock-fence-h2.sql"));
	}

	@Test
	void tableInADatabaseServerIsMadeOnlyOnDemandAndOnlyOnce() {
		Database postgres = Databases.postgres();
		ApplicationContextRunner onServer = this.shop.withPropertyValues("spring.datasource.url=" + postgres.url(),
				"spring.datasource.username=" + postgres.user());
		onServer.run((context) -> assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
			.isThrownBy(() -> context.getBean(Shop.class).sell("a"))
			.withMessageContaining("lock-fence-postgresql.sql"));
		for (int start = 1; start <= 2; start++) {
			int sales = start;
			onServer.withPropertyValues("distributed-lock.fencing.initialize-schema=always").run((context) -> {
				context.getBean(Shop.class).sell("a");
				assertThat(sold(context)).hasSize(sales);
			});
		}
	}

	private static List<String> sold(ApplicationContext context) {
		return context.getBean(JdbcTemplate.class).queryForList("SELECT item FROM sold", String.class);
	}

	static class Shop {

		private final JdbcTemplate jdbc;

		Shop(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("CREATE TABLE IF NOT EXISTS sold (item VARCHAR(10))");
		}

		@DistributedLock(name = "shop", key = "#item")
		@Transactional
		@Fenced
		public void sell(String item) {
			this.jdbc.update("INSERT INTO sold VALUES (?)", item);
		}

		@DistributedLock(name = "shop", key = "#item")
		@Fenced
		public void sellInATransactionOfTheCaller(String item) {
			this.jdbc.update("INSERT INTO sold VALUES (?)", item);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ShopConfiguration {

		@Bean
		Shop shop(JdbcTemplate jdbc) {
			return new Shop(jdbc);
		}

	}

	static class Log extends CopyOnWriteArrayList<String> implements TransactionExecutionListener {

		private static final long serialVersionUID = 1L;

		@EventListener
		public void onLockEvent(LockEvent event) {
			add((event instanceof LockEvent.Acquired) ? "locked" : "released");
		}

		@Override
		public void afterBegin(TransactionExecution transaction, Throwable failure) {
			add("begun");
		}

		@Override
		public void afterCommit(TransactionExecution transaction, Throwable failure) {
			add("committed");
		}

	}

	static class NotedShop {

		private final Log log;

		NotedShop(Log log) {
			this.log = log;
		}

		@Fenced
		@Transactional
		@DistributedLock(key = "'shop'")
		public void sell() {
			this.log.add("sold");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NotedConfiguration {

		@Bean
		Log log() {
			return new Log();
		}

		@Bean
		FencingGuard guard(Log log) {
			return (resource, token) -> log.add("fenced");
		}

		@Bean
		NotedShop notedShop(Log log) {
			return new NotedShop(log);
		}

	}

	/** Public, since another class loader makes the proxy. */
	public static class GuardlessService {

		@Fenced
		public void work() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class GuardlessConfiguration {

		@Bean
		GuardlessService guardlessService() {
			return new GuardlessService();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDataSourcesConfiguration {

		@Bean
		DataSource first() {
			return Databases.h2().dataSource();
		}

		@Bean
		DataSource second() {
			return Databases.h2().dataSource();
		}

	}

}
