package io.github.lockspring.autoconfigure;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockspring.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
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

	private static final Pattern WARNING = Pattern.compile(
			"WARN.*\\$(\\w+\\.\\w+)\\(String\\): its transaction is outside of its lock.*holds a database connection"
					+ " while it waits.*Move the lock outside.*distributed-lock.order");

	@Test
	void f25EachTransactionThatMayBeginOutsideOfItsLockIsWarnedAbout(CapturedOutput output) {
		start(Methods.class, OnInterface.class, OnClass.class, TransactionsFirst.class);
		assertThat(warnings(output)).containsExactlyInAnyOrder("Methods.required", "Methods.requiresNew",
				"Methods.nested", "OnInterface.run", "OnClass.run");
	}

	@Test
	void f25TransactionOfAProxyAroundTheProxyIsWarnedAbout(CapturedOutput output) {
		start(ProxyingProcessor.class, Plain.class);
		assertThat(warnings(output)).containsExactly("Plain.run");
	}

	@Test
	void transactionInsideOfTheLockIsLeftAlone(CapturedOutput output) {
		start(Methods.class, OnInterface.class, OnClass.class);
		assertThat(output).doesNotContain("@DistributedLock on");
	}

	private static void start(Class<?>... beans) {
		OrderedApplication.with(beans).run((context) -> assertThat(context).hasNotFailed());
	}

	private static List<String> warnings(CapturedOutput output) {
		return output.getOut()
			.lines()
			.map(WARNING::matcher)
			.filter(Matcher::find)
			.map((warning) -> warning.group(1))
			.toList();
	}

	@EnableTransactionManagement(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
	static class TransactionsFirst {

	}

	static class Methods {

		@Transactional
		@DistributedLock(key = "#id")
		public void required(String id) {
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		@DistributedLock(key = "#id")
		public void requiresNew(String id) {
		}

		@Transactional(propagation = Propagation.NESTED)
		@DistributedLock(key = "#id")
		public void nested(String id) {
		}

		@Transactional(propagation = Propagation.MANDATORY)
		@DistributedLock(key = "#id")
		public void mandatory(String id) {
		}

		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		@DistributedLock(key = "#id")
		public void notSupported(String id) {
		}

		@Transactional(propagation = Propagation.SUPPORTS)
		@DistributedLock(key = "#id")
		public void supports(String id) {
		}

		@DistributedLock(key = "#id")
		public void none(String id) {
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

	static class Plain {

		@DistributedLock(key = "#id")
		public void run(String id) {
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

}
