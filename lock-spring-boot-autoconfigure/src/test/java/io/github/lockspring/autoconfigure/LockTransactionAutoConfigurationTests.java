package io.github.lockspring.autoconfigure;

import java.util.List;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.transaction.CommitGuard;
import io.github.lockspring.internal.transaction.TransactionListenerRegistrar;
import io.github.lockspring.internal.transaction.TransactionUnitOfWork;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an application gets that has transactions and locks.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockTransactionAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class, DataSourceAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
				TransactionManagerCustomizationAutoConfiguration.class))
		.withPropertyValues("distributed-lock.store=memory", "spring.datasource.generate-unique-name=true");

	@Test
	void managerOfBootIsGuardedOnce(CapturedOutput output) {
		this.runner.run((context) -> {
			assertThat(guards(context.getBean(PlatformTransactionManager.class))).hasSize(1);
			assertThat(context).getBean(UnitOfWork.class).isInstanceOf(TransactionUnitOfWork.class);
		});
		assertThat(output).doesNotContain("is not eligible for getting processed");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void everyManagerIsGuardedOnceHoweverEarlyItIsMade(boolean early) {
		this.runner.withUserConfiguration(Managers.class).withBean(BeanFactoryPostProcessor.class, () -> (beans) -> {
			if (early) {
				beans.getBean("own");
			}
		})
			.run((context) -> assertThat(context.getBeansOfType(PlatformTransactionManager.class)).hasSize(2)
				.allSatisfy((name, manager) -> assertThat(guards(manager)).as(name).hasSize(1)));
	}

	@Test
	void f25LockInsideTwoManagersIsKeptUntilTheOuterOneCommits() {
		this.runner.withUserConfiguration(Managers.class).run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			TransactionTemplate outer = new TransactionTemplate(
					context.getBean("own", PlatformTransactionManager.class));
			TransactionTemplate inner = new TransactionTemplate(
					context.getBean("made", PlatformTransactionManager.class));
			outer.executeWithoutResult((status) -> {
				inner.executeWithoutResult((nested) -> locks.executeWithoutResult(LockRequest.of("a"), (lock) -> {
				}));
				assertThat(HeldLock.current("a")).isPresent();
			});
			assertThat(HeldLock.current("a")).isEmpty();
		});
	}

	@Test
	void unitOfWorkOfTheApplicationWins() {
		this.runner.withBean(UnitOfWork.class, () -> UnitOfWork.NONE)
			.run((context) -> assertThat(context).getBean(UnitOfWork.class).isSameAs(UnitOfWork.NONE));
	}

	@Test
	void nothingIsThereWithoutTransactionsOrLocks() {
		this.runner.withPropertyValues("distributed-lock.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(TransactionListenerRegistrar.class));
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=memory")
			.withClassLoader(new FilteredClassLoader("org.springframework.transaction", "org.springframework.jdbc"))
			.run((context) -> {
				assertThat(context).hasNotFailed().doesNotHaveBean("lockspringTransactionListenerRegistrar");
				context.getBean(LockTemplate.class).executeWithoutResult(LockRequest.of("a"), (lock) -> {
				});
			});
	}

	private static List<TransactionExecutionListener> guards(Object manager) {
		return ((ConfigurableTransactionManager) manager).getTransactionExecutionListeners()
			.stream()
			.filter(CommitGuard.class::isInstance)
			.toList();
	}

	@Configuration(proxyBeanMethods = false)
	static class Managers {

		@Bean
		static PlatformTransactionManager own() {
			return manager("own");
		}

		@Bean
		static FactoryBean<PlatformTransactionManager> made() {
			PlatformTransactionManager manager = manager("made");
			return new FactoryBean<>() {

				@Override
				public PlatformTransactionManager getObject() {
					return manager;
				}

				@Override
				public Class<?> getObjectType() {
					return PlatformTransactionManager.class;
				}

			};
		}

		private static PlatformTransactionManager manager(String database) {
			return new JdbcTransactionManager(JdbcConnectionPool.create("jdbc:h2:mem:" + database, "sa", ""));
		}

	}

}
