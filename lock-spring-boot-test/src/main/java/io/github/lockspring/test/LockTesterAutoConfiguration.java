package io.github.lockspring.test;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.engine.LockEngine;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;

/**
 * Auto-configuration of the {@link LockTester}, for every test that has this module on
 * its class path.
 *
 * @since 0.1
 */
@AutoConfiguration
public final class LockTesterAutoConfiguration {

	@Bean
	LockTester lockspringLockTester(ObjectProvider<LockEngine> engine) {
		return new LockTester(engine);
	}

	/* Wraps real templates: one that a test has replaced by a mock stays the mock */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static BeanPostProcessor lockspringBeanPostProcessor(ObjectProvider<LockTester> tester) {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				return (bean instanceof LockTemplate template) ? new TestedLockTemplate(template, tester.getObject())
						: bean;
			}

		};
	}

}
