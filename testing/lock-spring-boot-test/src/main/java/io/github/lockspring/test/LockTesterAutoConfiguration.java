package io.github.lockspring.test;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.autoconfigure.internal.CreatedEngine;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;

/**
 * Auto-configuration of the {@link LockTester} in tests with
 * {@link AutoConfigureDistributedLocks}.
 */
@AutoConfiguration
final class LockTesterAutoConfiguration {

	@Bean
	LockTester lockspringLockTester(ConfigurableListableBeanFactory beanFactory) {
		return new LockTester(new CreatedEngine(beanFactory));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockTesterPostProcessor lockspringLockTesterPostProcessor(ObjectProvider<LockTester> tester) {
		return new LockTesterPostProcessor(tester);
	}

	/**
	 * Wraps real templates, but not mocks that replace them.
	 */
	record LockTesterPostProcessor(ObjectProvider<LockTester> tester) implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof LockTemplate template) ? new TestedLockTemplate(template, this.tester.getObject())
					: bean;
		}

	}

}
