package io.github.lockspring.autoconfigure;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.FencingGuard;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import io.github.lockspring.autoconfigure.internal.ConditionalOnLocksEnabled;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.interceptor.LockAnnotationValidator;
import io.github.lockspring.internal.interceptor.LockInterceptor;
import io.github.lockspring.internal.interceptor.LockOperationSourceAdvisor;
import io.github.lockspring.internal.transaction.TransactionListenerRegistrar;
import io.github.lockspring.internal.transaction.TransactionUnitOfWork;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.transaction.ConfigurableTransactionManager;

/**
 * Auto-configuration of locks: the {@link LockTemplate}, the advice of annotated methods,
 * locks in transactions, events, and the {@link LockStore} in memory. Other stores have
 * auto-configurations of their own.
 *
 * @since 0.1
 */
@AutoConfiguration
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class LockAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockPropertyWarnings lockspringLockPropertyWarnings() {
		return new LockPropertyWarnings();
	}

	/**
	 * The template and its engine, which are created on first use, so an application
	 * without locks needs no store.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Engine {

		@Bean
		@Lazy
		@ConditionalOnMissingBean
		LockTemplate lockspringLockTemplate(LockEngine lockEngine) {
			return lockEngine.template();
		}

		@Bean
		@Lazy
		@ConditionalOnMissingBean
		LockEngine lockspringLockEngine(ObjectProvider<LockStore> stores, DistributedLockProperties properties,
				ApplicationEventPublisher publisher, ObjectProvider<UnitOfWork> unitsOfWork,
				ObjectProvider<LockRecorder> recorders, LockEngineLifecycle lifecycle,
				ConfigurableListableBeanFactory beanFactory, Environment environment) {
			LockStore store = stores.getIfAvailable(() -> {
				throw new MissingLockStore(beanFactory).explain(properties.store());
			});
			properties.checkTtl(store.traits().shortestTtl());
			LockEngine engine = new LockEngine(store, settings(properties, store, environment), publisher::publishEvent,
					unitsOfWork.getIfAvailable(() -> UnitOfWork.NONE),
					recorders.getIfAvailable(() -> LockRecorder.NONE), new InstanceDescription(environment));
			lifecycle.manage(engine);
			return engine;
		}

		@Bean
		LockEngineLifecycle lockspringLockEngineLifecycle(ApplicationContext context) {
			return new LockEngineLifecycle(context);
		}

		private static EngineSettings settings(DistributedLockProperties properties, LockStore bean,
				Environment environment) {
			// one of the application's own is as patient as that of a database
			Store store = LockStoreModules.of(bean).orElse(Store.JDBC);
			return new EngineSettings(properties.ttl(), properties.waitTime(), properties.maxHold(),
					LockTimeouts.command(properties, store, environment), LockTimeouts.shutdown(environment),
					properties.asyncRelease());
		}

	}

	/**
	 * The advice that runs annotated methods under their locks.
	 * <p>
	 * The advisor is created with the first bean of the application, before the
	 * application's bean post-processors. It must not depend on ordinary beans: the
	 * interceptor gets the template at its first call, and the order is read from the
	 * environment instead of {@code DistributedLockProperties}.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnLocksEnabled
	@Import(LockAutoProxyRegistrar.class)
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static class Interception {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		@ConditionalOnMissingBean
		static LockInterceptor lockspringLockInterceptor(ConfigurableBeanFactory beanFactory,
				ObjectProvider<LockTemplate> templates) {
			return new LockInterceptor(beanFactory, templates::getObject);
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		@ConditionalOnMissingBean
		static LockOperationSourceAdvisor lockspringLockOperationSourceAdvisor(LockInterceptor lockInterceptor,
				Environment environment) {
			LockOperationSourceAdvisor advisor = new LockOperationSourceAdvisor(lockInterceptor);
			advisor.setOrder(Binder.get(environment)
				.bind("distributed-lock.order", Integer.class)
				.orElse(LockOperationSourceAdvisor.DEFAULT_ORDER));
			return advisor;
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static LockAnnotationValidator lockspringLockAnnotationValidator() {
			return new LockAnnotationValidator();
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static ShortestTtlValidator lockspringShortestTtlValidator(ObjectProvider<LockStore> stores) {
			return new ShortestTtlValidator(() -> {
				LockStore store = stores.getIfAvailable();
				return (store != null) ? store.traits() : null;
			});
		}

	}

	/**
	 * Locks in transactions: a lock acquired inside a transaction ends with it, and a
	 * transaction whose lock was lost does not commit.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ConfigurableTransactionManager.class)
	@ConditionalOnLocksEnabled
	static class Transactions {

		@Bean
		@ConditionalOnMissingBean
		UnitOfWork lockspringUnitOfWork() {
			return new TransactionUnitOfWork();
		}

		@Bean
		TransactionAdvisorOrderRule lockspringTransactionAdvisorOrderRule() {
			return new TransactionAdvisorOrderRule();
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static TransactionListenerRegistrar lockspringTransactionListenerRegistrar(
				ObjectProvider<DistributedLockProperties> properties, ObjectProvider<LockRecorder> recorders) {
			return new TransactionListenerRegistrar(() -> properties.getObject().transaction().verifyBeforeCommit(),
					(lock) -> recorders
						.ifAvailable((recorder) -> recorder.refused(lock.name(), LockRecorder.Guard.COMMIT)));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnLockStore(Store.MEMORY)
	static class InMemory {

		@Bean
		@Lazy
		@ConditionalOnMissingBean(LockStore.class)
		MemoryLockStore lockspringMemoryLockStore() {
			return new MemoryLockStore();
		}

	}

	/**
	 * For {@code distributed-lock.enabled=false}. Annotated methods run without a lock
	 * and without fencing. Beans that need a {@link LockTemplate} or a
	 * {@link FencingGuard} still get one: its locks exclude only callers in this process,
	 * and the guard accepts each token.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnLocksEnabled(false)
	static class Disabled {

		private static final Logger logger = LoggerFactory.getLogger(LockAutoConfiguration.class);

		Disabled() {
			logger.warn(
					"Locks are switched off (distributed-lock.enabled=false): methods with @DistributedLock run without"
							+ " their lock, and the locks of a LockTemplate exclude only this process");
		}

		@Bean
		@Lazy
		@ConditionalOnMissingBean(LockStore.class)
		MemoryLockStore lockspringMemoryLockStore() {
			return new MemoryLockStore();
		}

		@Bean
		@ConditionalOnMissingBean
		FencingGuard lockspringFencingGuard() {
			return (resource, token) -> {
			};
		}

	}

}
