package io.github.lockspring.internal.fencing;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockspring.Fenced;
import io.github.lockspring.FencingGuard;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.internal.base.CallChain;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.PriorityOrdered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The annotation alone: where it may stand, which guard it asks, and for what.
 */
class FencedTests {

	private final LockEngine engine = new LockEngine(new MemoryLockStore(), EngineSettings.defaults(),
			LockEvents.NOBODY);

	private final LockTemplate locks = this.engine.template();

	private final List<AnnotationConfigApplicationContext> contexts = new ArrayList<>();

	/** The keys whose fencing tokens were refused. */
	private final List<String> refused = new ArrayList<>();

	@AfterEach
	void close() {
		this.contexts.forEach(AnnotationConfigApplicationContext::close);
		this.engine.close();
	}

	@ParameterizedTest
	@ValueSource(classes = { OnMethod.class, OnInterface.class })
	void annotationIsFoundWhereALockAnnotationWouldBe(Class<? extends Work> type) {
		for (boolean classProxies : new boolean[] { true, false }) {
			AnnotationConfigApplicationContext context = start(classProxies, Guard.class, type);
			Work work = context.getBean(Work.class);
			assertThat(AopUtils.isCglibProxy(work)).isEqualTo(classProxies);
			this.locks.executeWithoutResult(LockRequest.of("a"), (lock) -> {
				work.work();
				assertThat(context.getBean(RecordingGuard.class).asked).containsExactly("a " + lock.fencingToken());
			});
		}
	}

	@Test
	void eachKeyOfTheInnermostLockIsFenced() {
		AnnotationConfigApplicationContext context = start(true, Guard.class, OnMethod.class);
		this.locks.executeWithoutResult(LockRequest.of("outer"), (outer) -> this.locks
			.executeWithoutResult(Requests.ofKeys("b", "a"), (lock) -> context.getBean(OnMethod.class).work()));
		assertThat(context.getBean(RecordingGuard.class).keys()).containsExactly("a", "b");
	}

	@Test
	void locksThatOutliveTheirCallsAreFencedInTheOrderInWhichTheyWereTaken() {
		AnnotationConfigApplicationContext context = start(true, Guard.class, OnMethod.class);
		try (HeldLock first = this.locks.acquire(LockRequest.of("b"));
				HeldLock second = this.locks.acquire(LockRequest.of("a"));
				CallChain.Attachment one = CallChain.attach(((KeyedLock) first).locks());
				CallChain.Attachment other = CallChain.attach(((KeyedLock) second).locks())) {
			assertThat(one).isNotSameAs(other);
			context.getBean(OnMethod.class).work();
		}
		assertThat(context.getBean(RecordingGuard.class).keys()).containsExactly("b", "a");
	}

	@Test
	void callWithoutALockIsRefusedWithARemedyAndNotMade() {
		OnMethod bean = start(true, Guard.class, OnMethod.class).getBean(OnMethod.class);
		assertThatIllegalStateException().isThrownBy(bean::work)
			.withMessageContainingAll("FencedTests$OnMethod.work()", "holds no lock", "@DistributedLock");
		assertThat(bean.calls()).isZero();
	}

	@Test
	void refusedCallIsNotMadeAndReported() {
		AnnotationConfigApplicationContext context = start(true, Guard.class, OnMethod.class);
		OnMethod bean = context.getBean(OnMethod.class);
		context.getBean(RecordingGuard.class).stale = true;
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.locks.executeWithoutResult(LockRequest.of("a"), (lock) -> bean.work()));
		assertThat(bean.calls()).isZero();
		assertThat(this.refused).containsExactly("a");
	}

	@Test
	void guardIsChosenByName() {
		AnnotationConfigApplicationContext context = start(true, Guard.class, SecondGuard.class, Named.class);
		this.locks.executeWithoutResult(LockRequest.of("a"), (lock) -> context.getBean(Named.class).work());
		assertThat(context.getBean("second", RecordingGuard.class).asked).hasSize(1);
		assertThat(context.getBean("guard", RecordingGuard.class).asked).isEmpty();
	}

	@Test
	void guardIsMadeAfterThePostProcessorsOfTheApplication() {
		AnnotationConfigApplicationContext context = start(true, Guard.class, OnMethod.class,
				RecordingPostProcessor.class);
		assertThat(context.getBean(RecordingPostProcessor.class).seen).contains("guard");
	}

	@Test
	void missingGuardStopsTheStart() {
		assertThat(failure(OnMethod.class))
			.hasMessageContainingAll("@Fenced on ", "FencedTests$OnMethod.work()", "there is no FencingGuard bean",
					"JdbcFencingGuard")
			// Spring Boot would report a missing bean instead
			.hasNoCause();
	}

	@Test
	void severalGuardsWithoutANameStopTheStart() {
		assertThat(failure(Guard.class, SecondGuard.class, OnMethod.class)).hasMessageContaining("guard, second");
	}

	@Test
	void nameOfNoGuardStopsTheStart() {
		assertThat(failure(Guard.class, Named.class)).hasMessageContainingAll("guard = \"second\"",
				"there is no bean with this name");
		assertThat(failure(Guard.class, WrongType.class)).hasMessageContainingAll("guard = \"wrong\"",
				"is no FencingGuard");
	}

	@Test
	void methodThatNoProxyInterceptsStopsTheStart() {
		assertThat(failure(Guard.class, OnFinal.class)).hasMessageContainingAll("@Fenced on ", "OnFinal.work");
	}

	@Test
	void finalMethodOfAnInterfaceNeedsAnInterfaceProxy() {
		assertThat(failure(Guard.class, FinalOnInterface.class)).hasMessageContaining("cannot override a final method");
		start(false, Guard.class, FinalOnInterface.class);
	}

	@Test
	void beanThatIsMadeTooEarlyStopsTheStart() {
		assertThat(failure(Guard.class, OnMethod.class, TooEarly.class)).hasMessageContainingAll("is not proxied",
				"too early");
	}

	@Test
	void repositoryStopsTheStart() {
		assertThat(failure(Guard.class, RepositoryFactory.class, UserOfTheRepository.class)).hasMessageContainingAll(
				"FencedMethodWork.work()", "RepositoryFactory'", "handles calls itself", "service");
	}

	@Test
	void repositoryThatIsMadeLateIsNotCalledWithoutALock() {
		FencedMethodWork repository = start(true, Guard.class, RepositoryFactory.class).getBean(FencedMethodWork.class);
		assertThatIllegalStateException().isThrownBy(repository::work).withMessageContaining("holds no lock");
	}

	@Test
	void objectThatWasNeverCreatedIsLeftAlone() {
		start(true, (context) -> {
			context.register(Guard.class);
			context.getBeanFactory().registerSingleton("mock", new OnMethod());
		});
	}

	private LockDefinitionException failure(Class<?>... beans) {
		Throwable failure = catchThrowable(() -> start(true, beans));
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof LockDefinitionException definition) {
				return definition;
			}
		}
		throw new AssertionError("No LockDefinitionException: " + failure, failure);
	}

	private AnnotationConfigApplicationContext start(boolean classProxies, Class<?>... beans) {
		return start(classProxies, (context) -> context.register(beans));
	}

	private AnnotationConfigApplicationContext start(boolean classProxies,
			Consumer<AnnotationConfigApplicationContext> customizer) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.registerBean("processor", FencedBeanPostProcessor.class, () -> {
			FencedBeanPostProcessor processor = new FencedBeanPostProcessor((lock) -> this.refused.add(lock.key()));
			processor.setProxyTargetClass(classProxies);
			return processor;
		});
		context.registerBean(FencedAnnotationValidator.class);
		customizer.accept(context);
		this.contexts.add(context);
		context.refresh();
		return context;
	}

	interface Work {

		void work();

	}

	static class OnMethod implements Work {

		private int calls;

		@Override
		@Fenced
		public void work() {
			this.calls++;
		}

		int calls() {
			return this.calls;
		}

	}

	interface FencedMethodWork extends Work {

		@Override
		@Fenced
		void work();

	}

	@Fenced
	interface FencedWork extends Work {

		@Override
		void work();

	}

	static class OnInterface implements FencedWork {

		@Override
		public void work() {
		}

	}

	static class Named implements Work {

		@Override
		@Fenced(guard = "second")
		public void work() {
		}

	}

	static class WrongType implements Work {

		@Override
		@Fenced(guard = "wrong")
		public void work() {
		}

		@Bean
		String wrong() {
			return "";
		}

	}

	static class OnFinal {

		@Fenced
		public final void work() {
		}

	}

	static class FinalOnInterface implements FencedMethodWork {

		@Override
		public final void work() {
		}

	}

	static class RecordingGuard implements FencingGuard {

		final List<String> asked = new ArrayList<>();

		boolean stale;

		List<String> keys() {
			return this.asked.stream().map((asked) -> asked.split(" ")[0]).toList();
		}

		@Override
		public void check(String resource, long token) {
			this.asked.add(resource + ' ' + token);
			if (this.stale) {
				throw new StaleFencingTokenException(resource, token, token + 1);
			}
		}

	}

	static class Guard {

		@Bean
		RecordingGuard guard() {
			return new RecordingGuard();
		}

	}

	static class SecondGuard {

		@Bean
		RecordingGuard second() {
			return new RecordingGuard();
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

	static class TooEarly {

		@Bean
		static NeedyPostProcessor needy(OnMethod early) {
			return new NeedyPostProcessor(early);
		}

	}

	record NeedyPostProcessor(OnMethod early) implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	static class RepositoryFactory implements FactoryBean<FencedMethodWork> {

		@Override
		public FencedMethodWork getObject() {
			ProxyFactory factory = new ProxyFactory();
			factory.setTarget(new Object());
			factory.addInterface(FencedMethodWork.class);
			factory.addAdvice((MethodInterceptor) (invocation) -> null);
			return (FencedMethodWork) factory.getProxy();
		}

		@Override
		public Class<?> getObjectType() {
			return FencedMethodWork.class;
		}

	}

	record UserOfTheRepository(FencedMethodWork repository) {
	}

}
