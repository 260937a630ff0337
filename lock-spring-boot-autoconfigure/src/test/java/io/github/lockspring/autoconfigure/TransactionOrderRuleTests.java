package io.github.lockspring.autoconfigure;

import io.github.lockspring.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is warned about and left alone when a transaction stands where it defeats the
 * lock.
 */
@ExtendWith(OutputCaptureExtension.class)
class TransactionOrderRuleTests {

	private static final String WARNING = ".run(String): its transaction is outside of its lock";

	private static final String LOCK_LAST = "distributed-lock.order=" + Ordered.LOWEST_PRECEDENCE;

	@ParameterizedTest
	@ValueSource(classes = { OnMethod.class, OnClass.class, OnInterface.class, New.class, Nested.class })
	void f25TransactionOutsideOfItsLockIsWarnedAbout(Class<?> type, CapturedOutput output) {
		OrderedApplication.with(type, TransactionsFirst.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains(type.getSimpleName() + WARNING);
	}

	@Test
	void f25LockThatIsOrderedLastIsWarnedAboutToo(CapturedOutput output) {
		OrderedApplication.with(OnMethod.class, OrderedTransactions.class)
			.withPropertyValues(LOCK_LAST)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("OnMethod" + WARNING);
	}

	@Test
	void f25TransactionOfAProxyAroundTheProxyIsWarnedAbout(CapturedOutput output) {
		OrderedApplication.with(ProxiedTwice.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("Plain" + WARNING);
	}

	@Test
	void f25BeanThatIsMadeLaterIsWarnedAboutWhenItIsMade(CapturedOutput output) {
		OrderedApplication.with(LazyBean.class, TransactionsFirst.class).run((context) -> {
			assertThat(output).doesNotContain(WARNING);
			context.getBean(OnMethod.class);
			assertThat(output).contains("OnMethod" + WARNING);
		});
	}

	@Test
	void transactionOutsideOfItsLockIsWarnedAboutOnce(CapturedOutput output) {
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
		OrderedApplication.with(type).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("@DistributedLock on");
	}

	@ParameterizedTest
	@ValueSource(classes = { Mandatory.class, Suspending.class, Supporting.class, OtherMethod.class })
	void propagationThatBeginsNoTransactionIsLeftAlone(Class<?> type, CapturedOutput output) {
		OrderedApplication.with(type, TransactionsFirst.class).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("@DistributedLock on");
	}

	@EnableTransactionManagement(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
	static class TransactionsFirst {

	}

	@EnableTransactionManagement(proxyTargetClass = true, order = 0)
	static class OrderedTransactions {

	}

	static class OnMethod {

		@Transactional
		@DistributedLock(key = "#id")
		public void run(String id) {
		}

	}

	@Transactional
	static class OnClass {

		@DistributedLock(key = "#id")
		public void run(String id) {
		}

	}

	interface Api {

		@Transactional
		@DistributedLock(key = "#id")
		void run(String id);

	}

	static class OnInterface implements Api {

		@Override
		public void run(String id) {
		}

	}

	static class New {

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@DistributedLock(key = "#id")
		public void run(String id) {
		}

	}

	static class Nested {

		@Transactional(propagation = Propagation.NESTED)
		@DistributedLock(key = "#id")
		public void run(String id) {
		}

	}

	static class Mandatory {

		@Transactional(propagation = Propagation.MANDATORY)
		@DistributedLock(key = "#id")
		public void run(String id) {
		}

	}

	static class Suspending {

		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		@DistributedLock(key = "#id")
		public void run(String id) {
		}

	}

	static class Supporting {

		@Transactional(propagation = Propagation.SUPPORTS)
		@DistributedLock(key = "#id")
		public void run(String id) {
		}

	}

	static class OtherMethod {

		@DistributedLock(key = "#id")
		public void run(String id) {
		}

		@Transactional
		public void other(String id) {
		}

	}

	static class Plain {

		@DistributedLock(key = "#id")
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

}
