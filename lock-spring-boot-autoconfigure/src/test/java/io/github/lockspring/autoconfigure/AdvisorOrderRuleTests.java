package io.github.lockspring.autoconfigure;

import java.util.concurrent.CompletableFuture;

import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.OnBusy;
import io.github.lockspring.annotation.DistributedLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is refused, warned about and left alone when other advice stands where it defeats
 * the lock.
 */
@ExtendWith(OutputCaptureExtension.class)
class AdvisorOrderRuleTests {

	private static final String NOT_KEPT = "distributed-lock.transaction.release-after-completion=false";

	private static final String LOCK_LAST = "distributed-lock.order=" + Ordered.LOWEST_PRECEDENCE;

	@ParameterizedTest
	@ValueSource(classes = { OnMethod.class, OnClass.class, OnInterface.class, New.class, Nested.class })
	void f25TransactionOutsideOfALockThatDoesNotWaitForItIsRefused(Class<?> type) {
		ApplicationContextRunner application = OrderedApplication.with(type, TransactionsFirst.class)
			.withPropertyValues(NOT_KEPT);
		FailureAnalysis failure = StartupFailures.of(application);
		assertThat(failure.getDescription()).contains(type.getSimpleName() + ".run(String)",
				"its transaction is outside of its lock", "before the commit", "#id");
		assertThat(failure.getAction()).contains("distributed-lock.order", "@EnableTransactionManagement", NOT_KEPT);
	}

	@Test
	void f25LockThatIsOrderedLastIsRefusedToo() {
		OrderedApplication.with(OnMethod.class, OrderedTransactions.class)
			.withPropertyValues(NOT_KEPT, LOCK_LAST)
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageContaining("its transaction is outside of its lock"));
	}

	@Test
	void f25TransactionOfAProxyAroundTheProxyIsRefused() {
		OrderedApplication.with(ProxiedTwice.class)
			.withPropertyValues(NOT_KEPT)
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageContaining("Plain.run(String)"));
	}

	@Test
	void f25BeanThatIsMadeLaterIsRefusedWhenItIsMade() {
		OrderedApplication.with(LazyBean.class, TransactionsFirst.class).withPropertyValues(NOT_KEPT).run((context) -> {
			for (int i = 0; i < 2; i++) {
				assertThatExceptionOfType(Exception.class).isThrownBy(() -> context.getBean(OnMethod.class))
					.havingRootCause()
					.isInstanceOf(LockDefinitionException.class)
					.withMessageContaining("OnMethod.run(String)");
			}
		});
	}

	@Test
	void transactionOutsideOfALockThatWaitsForItIsWarnedAboutOnce(CapturedOutput output) {
		OrderedApplication.with(TwoOfAKind.class, TransactionsFirst.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output.getOut().lines().filter((line) -> line.contains("transaction is outside of its lock")))
			.singleElement()
			.asString()
			.contains("WARN", "OnMethod.run(String)", "holds a database connection while it waits",
					"Move the lock outside", "distributed-lock.order");
	}

	@ParameterizedTest
	@ValueSource(classes = { OnMethod.class, OnClass.class, OnInterface.class, New.class, Nested.class })
	void transactionInsideOfTheLockIsLeftAlone(Class<?> type, CapturedOutput output) {
		OrderedApplication.with(type).withPropertyValues(NOT_KEPT).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("@DistributedLock on");
	}

	@ParameterizedTest
	@ValueSource(classes = { Mandatory.class, Suspending.class, Supporting.class, OtherMethod.class })
	void propagationThatBeginsNoTransactionIsLeftAlone(Class<?> type, CapturedOutput output) {
		OrderedApplication.with(type, TransactionsFirst.class)
			.withPropertyValues(NOT_KEPT)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("@DistributedLock on");
	}

	@Test
	void asyncInsideOfTheLockIsRefused() {
		OrderedApplication.with(AsyncFirst.class, Asynchronous.class)
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageContainingAll("Asynchronous.run(String)", "@Async is inside of its lock",
						"order of @EnableAsync"));
	}

	@Test
	void wovenAsyncIsRefused() {
		OrderedApplication.with(Asynchronous.class)
			.withBean(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME, Object.class)
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.rootCause()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageContainingAll("Asynchronous.run(String)", "@Async is inside of its lock",
						"mode of @EnableAsync"));
	}

	@Test
	void asyncAndRetryOutsideOfTheLockAreLeftAlone(CapturedOutput output) {
		OrderedApplication.with(AsyncLast.class, Asynchronous.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("@DistributedLock on");
	}

	@ParameterizedTest
	@ValueSource(classes = { CachedFuture.class, SynchronizedCachedFuture.class })
	void cacheInsideOfTheLockOfAFutureIsRefused(Class<?> type) {
		OrderedApplication.with(AsyncLast.class, Caches.class, type)
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageContainingAll(type.getSimpleName() + ".run(String)", "@Cacheable is inside of its lock",
						"another bean's method"));
	}

	@Test
	void cacheOutsideOfTheLockThatKeepsBusyResultsIsWarnedAbout(CapturedOutput output) {
		OrderedApplication.with(CachesFirst.class, CachedResults.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output.getOut().lines().filter((line) -> line.contains("@DistributedLock on"))).hasSize(3)
			.anyMatch((line) -> line
				.contains("CachedResults.skipped(String): the cache is outside of the lock and keeps"))
			.anyMatch((line) -> line
				.contains("CachedResults.replaced(String): the cache is outside of the lock and keeps"))
			.anyMatch((line) -> line.contains("CachedResults.put(String): @CachePut is outside of the lock"));
	}

	@Test
	void cacheInsideOfTheLockIsLeftAlone(CapturedOutput output) {
		OrderedApplication.with(Caches.class, CachedResults.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("@DistributedLock on");
	}

	@EnableTransactionManagement(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
	static class TransactionsFirst {

	}

	@EnableTransactionManagement(proxyTargetClass = true, order = 0)
	static class OrderedTransactions {

	}

	@EnableAsync(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
	static class AsyncFirst {

	}

	@EnableAsync(proxyTargetClass = true)
	@EnableResilientMethods(proxyTargetClass = true)
	static class AsyncLast {

	}

	@EnableCaching(proxyTargetClass = true)
	static class Caches {

	}

	@EnableCaching(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
	static class CachesFirst {

	}

	static class OnMethod {

		@Transactional
		@DistributedLock("#id")
		public void run(String id) {
		}

	}

	@Transactional
	static class OnClass {

		@DistributedLock("#id")
		public void run(String id) {
		}

	}

	interface Api {

		@Transactional
		@DistributedLock("#id")
		void run(String id);

	}

	static class OnInterface implements Api {

		@Override
		public void run(String id) {
		}

	}

	static class New {

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@DistributedLock("#id")
		public void run(String id) {
		}

	}

	static class Nested {

		@Transactional(propagation = Propagation.NESTED)
		@DistributedLock("#id")
		public void run(String id) {
		}

	}

	static class Mandatory {

		@Transactional(propagation = Propagation.MANDATORY)
		@DistributedLock("#id")
		public void run(String id) {
		}

	}

	static class Suspending {

		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		@DistributedLock("#id")
		public void run(String id) {
		}

	}

	static class Supporting {

		@Transactional(propagation = Propagation.SUPPORTS)
		@DistributedLock("#id")
		public void run(String id) {
		}

	}

	static class OtherMethod {

		@DistributedLock("#id")
		public void run(String id) {
		}

		@Transactional
		public void other(String id) {
		}

	}

	static class Plain {

		@DistributedLock("#id")
		public void run(String id) {
		}

	}

	static class ProxiedTwice {

		@Bean
		static ProxyingProcessor proxyingProcessor() {
			return new ProxyingProcessor();
		}

		@Bean
		Plain plain() {
			return new Plain();
		}

	}

	static class ProxyingProcessor implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (!(bean instanceof Plain)) {
				return bean;
			}
			ProxyFactory factory = new ProxyFactory(bean);
			factory.setProxyTargetClass(true);
			factory.addAdvice(
					new TransactionInterceptor((TransactionManager) null, new MatchAlwaysTransactionAttributeSource()));
			return factory.getProxy();
		}

	}

	static class LazyBean {

		@Bean
		@Lazy
		OnMethod onMethod() {
			return new OnMethod();
		}

	}

	static class TwoOfAKind {

		@Bean
		OnMethod one() {
			return new OnMethod();
		}

		@Bean
		OnMethod other() {
			return new OnMethod();
		}

	}

	static class Asynchronous {

		@Async
		@Retryable
		@DistributedLock("#id")
		public void run(String id) {
		}

	}

	static class CachedFuture {

		@Async
		@Cacheable("futures")
		@DistributedLock("#id")
		public CompletableFuture<String> run(String id) {
			return CompletableFuture.completedFuture(id);
		}

	}

	static class SynchronizedCachedFuture {

		@Async
		@Cacheable(cacheNames = "futures", sync = true)
		@DistributedLock("#id")
		public CompletableFuture<String> run(String id) {
			return CompletableFuture.completedFuture(id);
		}

	}

	static class CachedResults {

		@Cacheable("answers")
		@DistributedLock(key = "#id", onBusy = OnBusy.SKIP)
		public @Nullable String skipped(String id) {
			return id;
		}

		@Cacheable("answers")
		@DistributedLock(key = "#id", fallback = "instead")
		public String replaced(String id) {
			return id;
		}

		String instead(String id) {
			return "";
		}

		@CachePut("answers")
		@DistributedLock("#id")
		public String put(String id) {
			return id;
		}

		@Cacheable(cacheNames = "answers", unless = "#result == null")
		@DistributedLock(key = "#id", onBusy = OnBusy.SKIP)
		public @Nullable String skippedAndNotKept(String id) {
			return id;
		}

		@Cacheable("answers")
		@DistributedLock("#id")
		public String get(String id) {
			return id;
		}

		@CacheEvict("answers")
		@DistributedLock("#id")
		public void forget(String id) {
		}

	}

}
