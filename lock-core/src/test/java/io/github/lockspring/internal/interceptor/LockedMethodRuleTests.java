package io.github.lockspring.internal.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.LockDefinitionException;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.Advisor;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.Pointcut;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.DefaultIntroductionAdvisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.DelegatePerTargetObjectIntroductionInterceptor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.config.TaskManagementConfigUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is refused, warned about and left alone when other advice stands where it defeats
 * the lock. Transactions have tests of their own, where they are wired.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockedMethodRuleTests {

	private static final int LOCK = LockOperationSourceAdvisor.DEFAULT_ORDER;

	@Test
	void asyncInsideOfTheLockIsRefused() {
		assertThat(LockContexts.failure(asyncFirst(Asynchronous.class))).hasMessageContainingAll(
				"Asynchronous.run(String)", "@Async is inside of its lock", "order of @EnableAsync");
	}

	/** Its advice is added before the proxy with the lock exists. */
	private static Consumer<AnnotationConfigApplicationContext> asyncFirst(Class<?>... beans) {
		return (context) -> {
			context.getBeanDefinition(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
				.getPropertyValues()
				.add("order", Ordered.LOWEST_PRECEDENCE);
			context.register(AsyncFirst.class);
			context.register(beans);
		};
	}

	@Test
	void wovenAsyncIsRefused() {
		Consumer<AnnotationConfigApplicationContext> woven = (context) -> {
			context.registerBean(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME, Object.class);
			context.register(Asynchronous.class);
		};
		assertThat(LockContexts.failure(woven)).hasMessageContainingAll("Asynchronous.run(String)",
				"@Async is inside of its lock", "mode of @EnableAsync");
	}

	@Test
	void beanThatIsCreatedLaterIsRefusedEachTime() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(asyncFirst(LazyBean.class))) {
			for (int i = 0; i < 2; i++) {
				assertThatExceptionOfType(Exception.class).isThrownBy(() -> context.getBean(Asynchronous.class))
					.havingRootCause()
					.isInstanceOf(LockDefinitionException.class)
					.withMessageContaining("@Async is inside of its lock");
			}
		}
	}

	@Test
	void asyncAndRetryOutsideOfTheLockAreLeftAlone(CapturedOutput output) {
		LockContexts.start(AsyncLast.class, Asynchronous.class).close();
		assertThat(output).doesNotContain("@DistributedLock on");
	}

	@Test
	void ruleOfTheApplicationSeesTheAdviceOfEachMethodOnce() {
		List<AdvisorChain> chains = new ArrayList<>();
		LockContexts.start((context) -> {
			context.registerBean(LockedMethodRule.class, () -> chains::add);
			IntStream.of(LOCK - 2, LOCK - 1, LOCK + 1, LOCK + 2).forEach((order) -> advise(context, order, "run"));
			advise(context, LOCK - 3, "other");
			context.register(Introduction.class, TwoOfAKind.class);
		}).close();
		assertThat(chains).singleElement().satisfies((chain) -> {
			assertThat(chain.method()).endsWith("Advised.run(String)");
			assertThat(chain.operation().key()).isEqualTo("#id");
			assertThat(orders(chain.outside())).containsExactly(LOCK - 2, LOCK - 1);
			assertThat(orders(chain.inside())).containsExactly(LOCK + 1, LOCK + 2);
		});
	}

	@Test
	void ruleOfTheApplicationCanRefuse() {
		assertThat(LockContexts.failure((context) -> {
			context.registerBean(LockedMethodRule.class, () -> (chain) -> {
				throw chain.error("something is inside", "Move it outside");
			});
			context.register(Asynchronous.class);
		})).hasMessageContainingAll("Asynchronous.run(String)", "something is inside", "Move it outside");
	}

	@Test
	void adviceOfAProxyOfOnesOwnIsKnownByItsClassFilterToo() {
		List<AdvisorChain> chains = new ArrayList<>();
		LockContexts.start((context) -> {
			context.registerBean(LockedMethodRule.class, () -> chains::add);
			context.register(ProxyingProcessor.class, Advised.class);
		}).close();
		assertThat(chains).singleElement().satisfies((chain) -> assertThat(orders(chain.outside())).containsExactly(2));
	}

	private static List<Integer> orders(List<Advisor> advisors) {
		return advisors.stream().map((advisor) -> ((Ordered) advisor).getOrder()).toList();
	}

	private static void advise(AnnotationConfigApplicationContext context, int order, String method) {
		context.registerBean("advisor" + order, Advisor.class,
				() -> advisor(order, pointcut(method, Advised.class::isAssignableFrom)),
				(definition) -> definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE));
	}

	private static Pointcut pointcut(String method, ClassFilter types) {
		NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
		pointcut.setMappedName(method);
		pointcut.setClassFilter(types);
		return pointcut;
	}

	/** Advice that does nothing. */
	private static Advisor advisor(int order, Pointcut pointcut) {
		DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(pointcut,
				(MethodInterceptor) MethodInvocation::proceed);
		advisor.setOrder(order);
		return advisor;
	}

	static class Introduction {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor introduction() {
			DefaultIntroductionAdvisor advisor = new DefaultIntroductionAdvisor(
					new DelegatePerTargetObjectIntroductionInterceptor(Mark.class, Marked.class), Marked.class);
			advisor.setOrder(LOCK - 4);
			return advisor;
		}

	}

	interface Marked {

	}

	public static class Mark implements Marked {

	}

	static class Advised {

		@DistributedLock(key = "#id")
		public void run(String id) {
		}

		public void other(String id) {
		}

	}

	static class TwoOfAKind {

		@Bean
		Advised one() {
			return new Advised();
		}

		@Bean
		Advised other() {
			return new Advised();
		}

	}

	/** Adds advice without asking whether it matches. */
	static class ProxyingProcessor implements BeanPostProcessor, Ordered {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (bean instanceof org.springframework.aop.framework.Advised proxy
					&& proxy.getTargetClass() == Advised.class) {
				proxy.addAdvisor(0, advisor(1, pointcut("*", String.class::equals)));
				proxy.addAdvisor(0, advisor(2, Pointcut.TRUE));
			}
			return bean;
		}

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

	}

	@EnableAsync(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
	static class AsyncFirst {

	}

	@EnableAsync(proxyTargetClass = true)
	@EnableResilientMethods(proxyTargetClass = true)
	static class AsyncLast {

	}

	static class LazyBean {

		@Bean
		@Lazy
		Asynchronous asynchronous() {
			return new Asynchronous();
		}

	}

	static class Asynchronous {

		@Async
		@Retryable
		@DistributedLock(key = "#id")
		public void run(String id) {
		}

	}

}
