package io.github.lockspring.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.base.CallChain;
import io.github.lockspring.internal.interceptor.LockInterceptor;
import io.github.lockspring.internal.interceptor.LockOperationSourceAdvisor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class LockInterceptorAutoConfigurationTests {

	private final ApplicationContextRunner runner = Applications.inMemory();

	@Test
	void annotatedMethodRunsUnderItsLock() {
		this.runner.withUserConfiguration(LockedService.class)
			.run((context) -> assertThat(context.getBean(LockedService.class).work()).isTrue());
	}

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

	@Test
	void classIsProxiedAlthoughItHasAnInterface() {
		this.runner.withUserConfiguration(InterfaceConfiguration.class)
			.run((context) -> assertThat(AopUtils.isCglibProxy(context.getBean(Shop.class))).isTrue());
	}

	@Test
	void interfaceIsProxiedWhereTheApplicationWantsThat() {
		this.runner.withUserConfiguration(InterfaceConfiguration.class)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> {
				assertThat(AopUtils.isJdkDynamicProxy(context.getBean(Shop.class))).isTrue();
				assertThat(context.getBean(Shop.class).sell()).isTrue();
			});
	}

	@Test
	void lockIsAcquiredBeforeTheTransactionAndReleasedAfterIt() {
		this.runner.withUserConfiguration(TransactionConfiguration.class).run((context) -> {
			context.getBean(TransactionalService.class).work();
			assertThat(context.getBean(RecordingTransactionManager.class).lockedDuring).containsExactly("begin locked",
					"commit locked");
			assertThat(CallChain.currentLocks(KeyedLock.class)).isEmpty();
		});
	}

	@Test
	void orderCanBeSet() {
		this.runner.withUserConfiguration(TransactionConfiguration.class)
			.withPropertyValues("distributed-lock.order=7")
			.run((context) -> assertThat(context.getBean(LockOperationSourceAdvisor.class).getOrder()).isEqualTo(7));
	}

	@Test
	void orderIsThatOfThePropertiesUnlessSet() {
		this.runner.run((context) -> assertThat(context.getBean(LockOperationSourceAdvisor.class).getOrder())
			.isEqualTo(context.getBean(DistributedLockProperties.class).getOrder()));
	}

	@Test
	void nothingIsMadeBeforeTheApplicationsBeanPostProcessors(CapturedOutput output) {
		Applications.onSharedServer()
			.withUserConfiguration(TransactionConfiguration.class, LockedService.class,
					PostProcessorConfiguration.class)
			.run((context) -> {
				assertThat(context.getBean(LockedService.class).work()).isTrue();
				assertThat(context.getBean(RecordingPostProcessor.class).seen).contains("redisConnectionFactory",
						"lockedService", "lockspringRedisLockStore", "lockspringLockTemplate", "lockspringLockEngine");
				assertThat(output).doesNotContain("is not eligible for getting processed by all BeanPostProcessors");
			});
	}

	@Test
	void advisorHasInfrastructureRole() {
		this.runner.run((context) -> {
			for (Class<?> type : List.of(LockOperationSourceAdvisor.class, LockInterceptor.class)) {
				String name = context.getBeanNamesForType(type)[0];
				assertThat(context.getBeanFactory().getBeanDefinition(name).getRole()).as(name)
					.isEqualTo(BeanDefinition.ROLE_INFRASTRUCTURE);
			}
		});
	}

	@Test
	void backsOffWhenUserDefinesInterceptor() {
		this.runner.withUserConfiguration(OwnInterceptorConfiguration.class, LockedService.class).run((context) -> {
			assertThat(context).hasSingleBean(LockInterceptor.class).hasBean("ownInterceptor");
			assertThat(context.getBean(LockedService.class).work()).isTrue();
		});
	}

	@Test
	void backsOffWhenUserDefinesAdvisor() {
		this.runner.withUserConfiguration(OwnAdvisorConfiguration.class, LockedService.class).run((context) -> {
			assertThat(context).hasSingleBean(LockOperationSourceAdvisor.class).hasBean("ownAdvisor");
			assertThat(context.getBean(LockedService.class).work()).isTrue();
		});
	}

	@Test
	void wrongAnnotationStopsTheStartWithAnExplanation() {
		FailureAnalysis failure = StartupFailures
			.of(this.runner.withUserConfiguration(WrongAnnotationConfiguration.class));
		assertThat(failure.getDescription()).contains("@DistributedLock")
			.contains("WrongAnnotation.work")
			.contains("Attribute: ttl = \"30\"")
			.contains("Problem: ");
		assertThat(failure.getAction()).isNotBlank();
	}

	@Test
	void wrongAnnotationOfLazyBeanStopsTheStart() {
		FailureAnalysis failure = StartupFailures
			.of(this.runner.withUserConfiguration(LazyWrongAnnotationConfiguration.class));
		assertThat(failure.getDescription()).contains("WrongAnnotation.work");
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

	@Configuration(proxyBeanMethods = false)
	static class InterfaceConfiguration {

		@Bean
		InterfaceShop shop() {
			return new InterfaceShop();
		}

	}

	static class TransactionalService {

		@Transactional
		@DistributedLock(key = "'tx'")
		public void work() {
			assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isTrue();
		}

	}

	static class RecordingTransactionManager extends AbstractPlatformTransactionManager {

		private static final long serialVersionUID = 1L;

		final List<String> lockedDuring = new ArrayList<>();

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			record("begin");
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			record("commit");
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
			record("rollback");
		}

		private void record(String moment) {
			this.lockedDuring.add(moment + (HeldLock.current("tx").isPresent() ? " locked" : " unlocked"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class TransactionConfiguration {

		@Bean
		PlatformTransactionManager transactionManager() {
			return new RecordingTransactionManager();
		}

		@Bean
		TransactionalService transactionalService() {
			return new TransactionalService();
		}

	}

	static class RecordingPostProcessor implements BeanPostProcessor {

		final List<String> seen = new ArrayList<>();

		@Override
		public Object postProcessBeforeInitialization(Object bean, String beanName) {
			this.seen.add(beanName);
			return bean;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PostProcessorConfiguration {

		@Bean
		static RecordingPostProcessor recordingPostProcessor() {
			return new RecordingPostProcessor();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnInterceptorConfiguration {

		@Bean
		static LockInterceptor ownInterceptor(ConfigurableBeanFactory beanFactory) {
			return new LockInterceptor(beanFactory, () -> beanFactory.getBean(LockTemplate.class));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnAdvisorConfiguration {

		@Bean
		static LockOperationSourceAdvisor ownAdvisor(LockInterceptor interceptor) {
			return new LockOperationSourceAdvisor(interceptor);
		}

	}

	static class WrongAnnotation {

		@DistributedLock(key = "'work'", ttl = "30")
		public void work() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WrongAnnotationConfiguration {

		@Bean
		WrongAnnotation wrongAnnotation() {
			return new WrongAnnotation();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyWrongAnnotationConfiguration {

		@Bean
		@Lazy
		WrongAnnotation wrongAnnotation() {
			return new WrongAnnotation();
		}

	}

}
