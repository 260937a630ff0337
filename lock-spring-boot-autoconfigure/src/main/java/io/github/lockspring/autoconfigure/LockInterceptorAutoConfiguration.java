package io.github.lockspring.autoconfigure;

import io.github.lockspring.autoconfigure.internal.ConditionalOnLocksEnabled;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.interceptor.LockAnnotationValidator;
import io.github.lockspring.internal.interceptor.LockInterceptor;
import io.github.lockspring.internal.interceptor.LockOperationSourceAdvisor;
import io.github.lockspring.store.LockStore;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of the advice that runs annotated methods under their locks.
 * <p>
 * The advisor is created with the first bean of the application, before the application's
 * bean post-processors. It must not depend on ordinary beans: the interceptor gets the
 * template at its first call, and the order is read from the environment instead of
 * {@code DistributedLockProperties}.
 *
 * @since 0.1
 */
@AutoConfiguration
@ConditionalOnLocksEnabled
@Import(LockAutoProxyRegistrar.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public final class LockInterceptorAutoConfiguration {

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
