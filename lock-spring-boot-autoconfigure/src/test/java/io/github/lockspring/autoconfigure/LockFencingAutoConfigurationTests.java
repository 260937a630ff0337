package io.github.lockspring.autoconfigure;

import java.util.List;

import javax.sql.DataSource;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import io.github.lockspring.FencingGuard;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.fencing.JdbcFencingGuard;
import io.github.lockspring.internal.fencing.FencedBeanPostProcessor;
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
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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

	private final ApplicationContextRunner shop = this.runner.withUserConfiguration(Shop.class);

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
	void fencingNeedsNoModuleOfAStore() {
		this.shop
			.withClassLoader(new FilteredClassLoader("io.github.lockspring.jdbc", "io.github.lockspring.redis",
					"io.github.lockspring.zookeeper", "io.github.lockspring.etcd"))
			.run((context) -> {
				context.getBean(Shop.class).sell("a");
				assertThat(sold(context)).containsExactly("a");
			});
	}

	@Test
	void annotationWithoutADatabaseStopsTheStartWithAnExplanation() {
		FailureAnalysis failure = StartupFailures.of(Applications.inMemory()
			.withClassLoader(new FilteredClassLoader("org.springframework.jdbc"))
			.withUserConfiguration(GuardlessService.class));
		assertThat(failure.getDescription()).contains("A @Fenced cannot be used", "GuardlessService.work()",
				"Problem: there is no FencingGuard bean");
		assertThat(failure.getAction()).contains("spring-boot-starter-jdbc");
	}

	@Test
	void backsOffWhenUserDefinesGuard() {
		this.runner.withBean("own", FencingGuard.class, () -> (resource, token) -> {
		})
			.run((context) -> assertThat(context).hasSingleBean(FencingGuard.class)
				.doesNotHaveBean("lockspringFenceTableInitializer"));
	}

	@Test
	void backsOffWhereThereAreSeveralDataSources() {
		this.runner.withBean("first", DataSource.class, () -> Databases.h2().dataSource())
			.withBean("second", DataSource.class, () -> Databases.h2().dataSource())
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
	void tableThatIsNotToBeMadeIsNotMade() {
		this.shop.withPropertyValues("distributed-lock.fencing.initialize-schema=never")
			.run((context) -> assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
				.isThrownBy(() -> context.getBean(Shop.class).sell("a"))
				.withMessageContainingAll("lock_fence", "lock-fence-h2.sql")
				// defect 43
				.withMessageNotContaining("WHERE"));
	}

	private static List<String> sold(ApplicationContext context) {
		return context.getBean(JdbcTemplate.class).queryForList("SELECT item FROM sold", String.class);
	}

	/** Public, since another class loader makes the proxy. */
	public static class Shop {

		private final JdbcTemplate jdbc;

		public Shop(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("CREATE TABLE IF NOT EXISTS sold (item VARCHAR(10))");
		}

		@DistributedLock(name = "shop", key = "#item")
		@Transactional
		@Fenced
		public void sell(String item) {
			this.jdbc.update("INSERT INTO sold VALUES (?)", item);
		}

	}

	/** Public, since another class loader makes the proxy. */
	public static class GuardlessService {

		@Fenced
		public void work() {
		}

	}

}
