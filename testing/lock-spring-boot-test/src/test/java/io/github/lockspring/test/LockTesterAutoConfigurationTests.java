package io.github.lockspring.test;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.autoconfigure.LockAutoConfiguration;
import io.github.lockspring.internal.engine.LockEngine;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tester in applications that may have no use for locks.
 */
class LockTesterAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(LockTesterAutoConfiguration.class, LockAutoConfiguration.class));

	@Test
	void engineIsNotCreatedForTheTester() {
		this.runner.withPropertyValues("distributed-lock.store=memory").run((context) -> {
			LockTester tester = context.getBean(LockTester.class).assertNotHeld("order:42");
			tester.reset();
			assertThat(hasEngine(context)).isFalse();
			context.getBean(LockTemplate.class);
			tester.reset();
			assertThat(hasEngine(context)).isTrue();
		});
	}

	@Test
	void applicationWithoutAStoreCanBeTested() {
		this.runner.run((context) -> context.getBean(LockTester.class).reset());
	}

	private static boolean hasEngine(AssertableApplicationContext context) {
		return context.getSourceApplicationContext()
			.getBeanFactory()
			.containsSingleton(context.getBeanNamesForType(LockEngine.class, false, false)[0]);
	}

}
