package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.base.CallChain;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.interceptor.LockInterceptor;
import io.github.lockspring.internal.interceptor.LockOperationSourceAdvisor;
import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.memory.MemoryLockStore;
import io.github.lockspring.testsupport.store.ControlledStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class LockAutoConfigurationTests {

	private final ApplicationContextRunner runner = Applications.inMemory();

	@Test
	void annotatedMethodRunsUnderItsLockWhereAopIsSwitchedOff() {
		this.runner.withUserConfiguration(LockedService.class)
			.withPropertyValues("spring.aop.auto=false")
			.run((context) -> assertThat(context.getBean(LockedService.class).work()).isTrue());
	}

	@Test
	void annotatedMethodRunsUnderItsLockWithoutAspectJ() {
		this.runner.withUserConfiguration(LockedService.class)
			.withClassLoader(new FilteredClassLoader("org.aspectj"))
			.run((context) -> assertThat(context.getBean(LockedService.class).work()).isTrue());
	}

	@ParameterizedTest
	@CsvSource({ "spring.aop.proxy-target-class=false, true", "spring.aop.auto=true, false" })
	void classIsProxiedUnlessTheApplicationWantsItsInterface(String property, boolean byInterface) {
		this.runner.withUserConfiguration(InterfaceShop.class).withPropertyValues(property).run((context) -> {
			assertThat(AopUtils.isJdkDynamicProxy(context.getBean(Shop.class))).isEqualTo(byInterface);
			assertThat(context.getBean(Shop.class).sell()).isTrue();
		});
	}

	@Test
	void orderIsThatOfThePropertiesUnlessSet() {
		this.runner.run((context) -> assertThat(context.getBean(LockOperationSourceAdvisor.class).getOrder())
			.isEqualTo(context.getBean(DistributedLockProperties.class).order()));
	}

	/** Whatever modules are on the class path, and whatever the property says. */
	@Test
	void commandTimeoutIsThatOfTheStoreThatIsUsed() {
		assertThat(commandTimeout(new ControlledStore(new MemoryLockStore()))).hasSeconds(2);
		assertThat(commandTimeout(RedisLockStore.builder(new JedisConnectionFactory()).build())).hasMillis(300);
		ProxyFactory traced = new ProxyFactory(RedisLockStore.builder(new JedisConnectionFactory()).build());
		assertThat(commandTimeout((LockStore) traced.getProxy())).hasMillis(300);
	}

	private static Duration commandTimeout(LockStore store) {
		List<Duration> found = new ArrayList<>();
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=redis", "spring.data.redis.timeout=300ms")
			.withBean(LockStore.class, () -> store)
			.run((context) -> {
				Object registry = ReflectionTestUtils.invokeMethod(context.getBean(LockEngine.class), "registry");
				EngineSettings settings = ReflectionTestUtils.invokeMethod(registry, "settings");
				found.add(settings.commandTimeout());
			});
		return found.get(0);
	}

	@Test
	void nothingIsMadeBeforeTheApplicationsBeanPostProcessors(CapturedOutput output) {
		Set<String> seen = new HashSet<>();
		Applications.onSharedServer()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class))
			.withUserConfiguration(LockedService.class)
			.withBean(BeanPostProcessor.class, () -> new BeanPostProcessor() {
				@Override
				public Object postProcessBeforeInitialization(Object bean, String beanName) {
					seen.add(beanName);
					return bean;
				}
			})
			.run((context) -> {
				assertThat(context.getBean(LockedService.class).work()).isTrue();
				assertThat(seen).contains("redisConnectionFactory", "transactionManager", "lockspringRedisLockStore",
						"lockspringLockTemplate", "lockspringLockEngine");
				assertThat(output).doesNotContain("is not eligible for getting processed by all BeanPostProcessors");
			});
	}

	@Test
	void backsOffWhenUserDefinesInterceptorAndAdvisor() {
		this.runner.withUserConfiguration(OwnAdvice.class, LockedService.class).run((context) -> {
			assertThat(context).hasSingleBean(LockInterceptor.class)
				.hasSingleBean(LockOperationSourceAdvisor.class)
				.hasBean("ownInterceptor")
				.hasBean("ownAdvisor");
			assertThat(context.getBean(LockedService.class).work()).isTrue();
		});
	}

	@Test
	void backsOffWhenUserDefinesTemplate() {
		LockEngine engine = new LockEngine(new MemoryLockStore(), EngineSettings.defaults(), LockEvents.NOBODY);
		this.runner.withBean("ownTemplate", LockTemplate.class, engine::template)
			.withUserConfiguration(LockedService.class)
			.run((context) -> {
				assertThat(context).hasSingleBean(LockTemplate.class).hasBean("ownTemplate");
				assertThat(context.getBean(LockedService.class).work()).isTrue();
				assertThat(context.getBeanFactory().containsSingleton("lockspringLockEngine")).isFalse();
			});
	}

	static class OwnAdvice {

		@Bean
		static LockInterceptor ownInterceptor(ConfigurableBeanFactory beanFactory) {
			return new LockInterceptor(beanFactory, () -> beanFactory.getBean(LockTemplate.class));
		}

		@Bean
		static LockOperationSourceAdvisor ownAdvisor(LockInterceptor interceptor) {
			return new LockOperationSourceAdvisor(interceptor);
		}

	}

	interface Shop {

		boolean sell();

	}

	static class InterfaceShop implements Shop {

		@Override
		@DistributedLock(key = "'shop'")
		public boolean sell() {
			return !CallChain.currentLocks(KeyedLock.class).isEmpty();
		}

	}

}
