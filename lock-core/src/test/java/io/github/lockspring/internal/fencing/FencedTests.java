package io.github.lockspring.internal.fencing;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.PriorityOrdered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The annotation alone: where it may stand, which guard it asks, and for what.
 */
class FencedTests {

	private static final LockEngine engine = new LockEngine(new MemoryLockStore(), EngineSettings.defaults(),
			LockEvents.NOBODY);

	private static final LockTemplate locks = engine.template();

	/** The keys whose fencing tokens were refused. */
	private static final List<String> refused = new CopyOnWriteArrayList<>();

	@AfterAll
	static void close() {
		engine.close();
	}

	@ParameterizedTest
	@ValueSource(classes = { OnMethod.class, OnClass.class, OnOverridden.class, OnSuperclass.class,
			OnInterfaceMethod.class, OnInterface.class, MetaAnnotated.class, ByInheritance.class })
	void annotationIsFoundWhereverALockAnnotationWouldBe(Class<? extends Work> type) {
		for (boolean classProxies : new boolean[] { true, false }) {
			try (AnnotationConfigApplicationContext context = start(classProxies, Guard.class, type)) {
				Work work = context.getBean(Work.class);
				assertThat(AopUtils.isCglibProxy(work)).isEqualTo(classProxies);
				locks.execute(LockRequest.of("a"), (lock) -> {
					work.work();
					assertThat(context.getBean(RecordingGuard.class).asked).containsExactly("a " + lock.fencingToken());
					return lock;
				});
			}
		}
	}

	@Test
	void classAnnotationCoversPublicMethodsOnly() {
		try (AnnotationConfigApplicationContext context = start(true, Guard.class, OnClass.class)) {
			OnClass bean = context.getBean(OnClass.class);
			assertThat(bean.toString()).isNotEmpty();
			bean.packagePrivate();
			assertThat(context.getBean(RecordingGuard.class).asked).isEmpty();
		}
	}

	@Test
	void beanWithoutTheAnnotationIsNotProxied() {
		try (AnnotationConfigApplicationContext context = start(true, Unannotated.class)) {
			assertThat(AopUtils.isAopProxy(context.getBean(Unannotated.class))).isFalse();
		}
	}

	@Test
	void eachKeyOfTheInnermostLockIsFenced() {
		try (AnnotationConfigApplicationContext context = start(true, Guard.class, OnMethod.class)) {
			locks.execute(LockRequest.of("outer"), (outer) -> locks.execute(Requests.ofKeys("b", "a"), (lock) -> {
				context.getBean(OnMethod.class).work();
				return null;
			}));
			assertThat(context.getBean(RecordingGuard.class).asked).extracting((asked) -> asked.split(" ")[0])
				.containsExactly("a", "b");
		}
	}

	@Test
	void locksThatOutliveTheirCallsAreFencedInTheOrderInWhichTheyWereTaken() {
		try (AnnotationConfigApplicationContext context = start(true, Guard.class, OnMethod.class);
				HeldLock first = locks.acquire(LockRequest.of("b"));
				HeldLock second = locks.acquire(LockRequest.of("a"));
				CallChain.Attachment one = CallChain.attach(((KeyedLock) first).locks());
				CallChain.Attachment other = CallChain.attach(((KeyedLock) second).locks())) {
			assertThat(one).isNotSameAs(other);
			context.getBean(OnMethod.class).work();
			assertThat(context.getBean(RecordingGuard.class).asked).extracting((asked) -> asked.split(" ")[0])
				.containsExactly("b", "a");
		}
	}

	@Test
	void callWithoutALockIsRefusedWithARemedyAndNotMade() {
		try (AnnotationConfigApplicationContext context = start(true, Guard.class, OnMethod.class)) {
			OnMethod bean = context.getBean(OnMethod.class);
			assertThatIllegalStateException().isThrownBy(bean::work)
				.withMessageContainingAll("FencedTests$OnMethod.work()", "holds no lock", "@DistributedLock");
			assertThat(bean.calls()).isZero();
			assertThat(refused).containsExactly("a");
		}
	}

	@Test
	void refusedCallIsNotMade() {
		try (AnnotationConfigApplicationContext context = start(true, Guard.class, OnMethod.class)) {
			OnMethod bean = context.getBean(OnMethod.class);
			context.getBean(RecordingGuard.class).stale = true;
			assertThat(catchThrowable(() -> locks.execute(LockRequest.of("a"), (lock) -> {
				bean.work();
				return null;
			}))).isInstanceOf(StaleFencingTokenException.class);
			assertThat(bean.calls()).isZero();
		}
	}

	@Test
	void guardIsChosenByName() {
		try (AnnotationConfigApplicationContext context = start(true, Guard.class, SecondGuard.class, Named.class)) {
			locks.execute(LockRequest.of("a"), (lock) -> {
				context.getBean(Named.class).work();
				return null;
			});
			assertThat(context.getBean("second", RecordingGuard.class).asked).hasSize(1);
			assertThat(context.getBean("guard", RecordingGuard.class).asked).isEmpty();
		}
	}

	@Test
	void guardIsMadeAfterThePostProcessorsOfTheApplication() {
		try (AnnotationConfigApplicationContext context = start(true, Guard.class, OnMethod.class, Recorder.class)) {
			assertThat(context.getBean(RecordingPostProcessor.class).seen).contains("guard");
		}
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
		assertThat(failure(Guard.class, SecondGuard.class, OnMethod.class)).hasMessageContainingAll("several",
				"guard, second");
	}

	@Test
	void unknownGuardStopsTheStart() {
		assertThat(failure(Guard.class, Named.class)).hasMessageContainingAll("guard = \"second\"",
				"there is no bean with this name");
	}

	@Test
	void beanThatIsNoGuardStopsTheStart() {
		assertThat(failure(Guard.class, WrongType.class)).hasMessageContainingAll("guard = \"wrong\"",
				"is no FencingGuard");
	}

	@ParameterizedTest
	@ValueSource(classes = { OnPrivate.class, OnStatic.class, OnFinal.class, OnFinalClass.class })
	void methodThatNoProxyInterceptsStopsTheStart(Class<?> type) {
		assertThat(failure(Guard.class, type)).hasMessageContainingAll("@Fenced on ", type.getSimpleName() + ".work");
	}

	@Test
	void finalMethodOfAnInterfaceNeedsAnInterfaceProxy() {
		assertThat(failure(Guard.class, FinalOnInterface.class)).hasMessageContaining("cannot override a final method");
		start(false, Guard.class, FinalOnInterface.class).close();
	}

	@Test
	void lazyBeanIsCheckedToo() {
		assertThat(failure(LazyConfiguration.class)).hasMessageContaining("there is no FencingGuard bean");
	}

	@Test
	void beanThatIsMadeTooEarlyStopsTheStart() {
		assertThat(failure(Guard.class, EarlyConfiguration.class)).hasMessageContainingAll("'early'", "is not proxied",
				"too early");
	}

	@Test
	void proxyThatHandlesCallsItselfStopsTheStart() {
		assertThat(failure(Guard.class, RepositoryConfiguration.class))
			.hasMessageContainingAll("FencedMethodWork.work()", "'repository'", "service");
	}

	@Test
	void repositoryOfAFactoryBeanStopsTheStart() {
		assertThat(failure(Guard.class, RepositoryFactory.class, UserOfTheRepository.class))
			.hasMessageContainingAll("FencedMethodWork.work()", "RepositoryFactory'", "service");
	}

	@Test
	void repositoryThatIsMadeLateIsNotCalledWithoutALock() {
		try (AnnotationConfigApplicationContext context = start(true, Guard.class, RepositoryFactory.class)) {
			FencedMethodWork repository = context.getBean(FencedMethodWork.class);
			assertThatIllegalStateException().isThrownBy(repository::work).withMessageContaining("holds no lock");
		}
	}

	@Test
	void objectThatWasNeverCreatedIsLeftAlone() {
		start(true, (context) -> {
			context.register(Guard.class);
			context.getBeanFactory().registerSingleton("mock", new OnMethod());
		}).close();
	}

	private static LockDefinitionException failure(Class<?>... beans) {
		Throwable failure = catchThrowable(() -> start(true, beans).close());
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof LockDefinitionException definition) {
				return definition;
			}
		}
		throw new AssertionError("No LockDefinitionException: " + failure, failure);
	}

	private static AnnotationConfigApplicationContext start(boolean classProxies, Class<?>... beans) {
		return start(classProxies, (context) -> context.register(beans));
	}

	private static AnnotationConfigApplicationContext start(boolean classProxies,
			Consumer<AnnotationConfigApplicationContext> customizer) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.registerBean("processor", FencedBeanPostProcessor.class, () -> {
			FencedBeanPostProcessor processor = new FencedBeanPostProcessor((lock) -> refused.add(lock.key()));
			processor.setProxyTargetClass(classProxies);
			return processor;
		});
		context.registerBean(FencedAnnotationValidator.class);
		customizer.accept(context);
		try {
			context.refresh();
			return context;
		}
		catch (RuntimeException ex) {
			context.close();
			throw ex;
		}
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

	@Fenced
	static class OnClass implements Work {

		@Override
		public void work() {
		}

		void packagePrivate() {
		}

	}

	static class OnOverridden extends OnMethod {

		@Override
		public void work() {
		}

	}

	static class OnSuperclass extends OnClass {

		@Override
		public void work() {
		}

	}

	interface FencedMethodWork extends Work {

		@Override
		@Fenced
		void work();

	}

	static class OnInterfaceMethod implements FencedMethodWork {

		@Override
		public void work() {
		}

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

	@Fenced
	@Retention(RetentionPolicy.RUNTIME)
	@interface SafeWrite {

	}

	static class MetaAnnotated implements Work {

		@Override
		@SafeWrite
		public void work() {
		}

	}

	static class Implementation {

		public void work() {
		}

	}

	static class ByInheritance extends Implementation implements FencedMethodWork {

	}

	static class Unannotated implements Work {

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

	static class OnPrivate {

		@Fenced
		@SuppressWarnings("unused")
		private void work() {
		}

	}

	static class OnStatic {

		@Fenced
		public static void work() {
		}

	}

	static class OnFinal {

		@Fenced
		public final void work() {
		}

	}

	static final class OnFinalClass {

		@Fenced
		public void work() {
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

		@Override
		public void check(String resource, long token) {
			this.asked.add(resource + ' ' + token);
			if (this.stale) {
				throw new StaleFencingTokenException(resource, token, token + 1);
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Guard {

		@Bean
		RecordingGuard guard() {
			return new RecordingGuard();
		}

	}

	@Configuration(proxyBeanMethods = false)
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

	@Configuration(proxyBeanMethods = false)
	static class Recorder {

		@Bean
		static RecordingPostProcessor recordingPostProcessor() {
			return new RecordingPostProcessor();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyConfiguration {

		@Bean
		@Lazy
		OnMethod lazy() {
			return new OnMethod();
		}

	}

	static class NeedyPostProcessor implements BeanPostProcessor, PriorityOrdered {

		NeedyPostProcessor(OnMethod early) {
			early.calls();
		}

		@Override
		public int getOrder() {
			return 0;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class RepositoryConfiguration {

		@Bean
		FencedMethodWork repository() {
			ProxyFactory factory = new ProxyFactory();
			factory.setTarget(new Object());
			factory.addInterface(FencedMethodWork.class);
			factory.addAdvice((MethodInterceptor) (invocation) -> null);
			return (FencedMethodWork) factory.getProxy();
		}

	}

	static class RepositoryFactory implements FactoryBean<FencedMethodWork> {

		@Override
		public FencedMethodWork getObject() {
			return new RepositoryConfiguration().repository();
		}

		@Override
		public Class<?> getObjectType() {
			return FencedMethodWork.class;
		}

	}

	record UserOfTheRepository(FencedMethodWork repository) {
	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyConfiguration {

		@Bean
		OnMethod early() {
			return new OnMethod();
		}

		@Bean
		NeedyPostProcessor needy(OnMethod early) {
			return new NeedyPostProcessor(early);
		}

	}

}
