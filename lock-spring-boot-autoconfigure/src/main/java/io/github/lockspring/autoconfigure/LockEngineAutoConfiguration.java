package io.github.lockspring.autoconfigure;

import io.github.lockspring.autoconfigure.internal.LockTemplateDecorator;
import java.time.Duration;

import io.github.lockspring.LockListener;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.UnitOfWork;
import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.store.LockStore;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of the {@link LockTemplate}. The template and its engine are created
 * on first use, so an application without locks needs no store.
 *
 * @since 0.1
 */
@AutoConfiguration
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class LockEngineAutoConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static DurationUnitValidator lockspringDurationUnitValidator() {
		return new DurationUnitValidator();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static UnknownPropertyValidator lockspringUnknownPropertyValidator() {
		return new UnknownPropertyValidator();
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	LockTemplate lockspringLockTemplate(LockEngine lockEngine, ObjectProvider<LockTemplateDecorator> decorators) {
		LockTemplate template = lockEngine.template();
		for (LockTemplateDecorator decorator : decorators.orderedStream().toList()) {
			template = decorator.decorate(template);
		}
		return template;
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	LockEngine lockspringLockEngine(ObjectProvider<LockStore> stores, DistributedLockProperties properties,
			ObjectProvider<LockListener> listeners, ObjectProvider<UnitOfWork> unitsOfWork,
			ObjectProvider<LockRecorder> recorders, LockEngineLifecycle lifecycle,
			ConfigurableListableBeanFactory beanFactory, Environment environment) {
		LockStore store = stores.getIfAvailable(() -> {
			throw MissingLockStoreException.explaining(beanFactory, properties.store());
		});
		properties.checkTtl(store.traits().shortestTtl());
		LockEngine engine = new LockEngine(store, settings(properties), listeners.orderedStream().toList(),
				unitsOfWork.getIfAvailable(() -> UnitOfWork.NONE), recorders.getIfAvailable(() -> LockRecorder.NONE),
				new InstanceDescription(environment));
		lifecycle.manage(engine);
		return engine;
	}

	@Bean
	LockEngineLifecycle lockspringLockEngineLifecycle(ApplicationContext context) {
		return new LockEngineLifecycle(context);
	}

	private static EngineSettings settings(DistributedLockProperties properties) {
		return new EngineSettings(properties.ttl(), properties.waitTime(), properties.maxHold(),
				commandTimeout(properties), properties.renewal().interval(), properties.renewal().batchSize(),
				properties.fairness().maxHandoffTime(), properties.shutdown().timeout(), properties.asyncRelease());
	}

	private static Duration commandTimeout(DistributedLockProperties properties) {
		return switch (LockStoreModules.select(properties.store(), null).orElse(Store.REDIS)) {
			case JDBC -> properties.jdbc().commandTimeout();
			case ZOOKEEPER -> properties.zookeeper().commandTimeout();
			case ETCD -> properties.etcd().commandTimeout();
			case REDIS, REDLOCK, MEMORY -> properties.redis().commandTimeout();
		};
	}

}
