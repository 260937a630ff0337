package io.github.lockspring.autoconfigure;

import javax.sql.DataSource;

import io.github.lockspring.Fenced;
import io.github.lockspring.FencingGuard;
import io.github.lockspring.autoconfigure.internal.ConditionalOnLocksEnabled;
import io.github.lockspring.fencing.JdbcFencingGuard;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.fencing.FencedAnnotationValidator;
import io.github.lockspring.internal.fencing.FencedBeanPostProcessor;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Auto-configuration of {@code @Fenced}, and of the {@link FencingGuard} in the
 * application's database with its table. The annotation needs no database, so it is never
 * silently ignored.
 *
 * @since 0.1
 */
@AutoConfiguration(afterName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
		"org.springframework.boot.jdbc.autoconfigure.XADataSourceAutoConfiguration" })
@ConditionalOnLocksEnabled
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public final class LockFencingAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedBeanPostProcessor lockspringFencedBeanPostProcessor(Environment environment,
			ObjectProvider<LockRecorder> recorders) {
		FencedBeanPostProcessor processor = new FencedBeanPostProcessor(
				(lock) -> recorders.ifAvailable((recorder) -> recorder.refused(lock.name(), LockRecorder.Guard.FENCE)));
		processor.setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
		return processor;
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static FencedAnnotationValidator lockspringFencedAnnotationValidator() {
		return new FencedAnnotationValidator();
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ DataSource.class, JdbcOperations.class })
	static class Check {

		@Bean
		FenceTableCheck lockspringFenceTableCheck(ApplicationContext context, FencedBeanPostProcessor fenced) {
			return new FenceTableCheck(context, fenced);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ DataSource.class, JdbcOperations.class, TransactionSynchronizationManager.class })
	@ConditionalOnSingleCandidate(DataSource.class)
	@ConditionalOnMissingBean(FencingGuard.class)
	@EnableConfigurationProperties(DistributedLockProperties.class)
	static class Jdbc {

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
				throw PropertyChecks.invalid("fencing.table", table, "It is not the name of a table",
						"Choose a name of letters, digits and underscores, with an optional schema and a dot before it");
			}
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnClass(DataSourceScriptDatabaseInitializer.class)
		static class Schema {

			@Bean
			TableInitializer lockspringFenceTableInitializer(DataSource dataSource,
					DistributedLockProperties properties) {
				DistributedLockProperties.Fencing fencing = properties.fencing();
				// validates the name
				guard(dataSource, fencing.table());
				return new TableInitializer(dataSource, TableInitializer.FENCES, fencing.table(),
						fencing.initializeSchema());
			}

		}

	}

}
