package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.OnBusy;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.base.CallChain;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Which beans are looked at, and when.
 */
class LockAnnotationValidatorTests {

	@ParameterizedTest
	@ValueSource(classes = { TooEarly.class, TooEarlyProduct.class, EarlyFactoryPostProcessor.class })
	void refusesBeanThatWasCreatedTooEarly(Class<?> early) {
		assertThat(LockContexts.failure(early)).hasMessageContainingAll(".run(String)",
				"is not proxied, and would run without the lock", "created too early, for a bean post-processor",
				"static", "@Lazy");
	}

	@Test
	void refusesFinishedObject() {
		LockDefinitionException error = LockContexts
			.failure((context) -> context.getBeanFactory().registerSingleton("finished", new Good()));
		assertThat(error).hasMessageContainingAll("bean 'finished' is not proxied", "as a bean definition");
	}

	@ParameterizedTest
	@ValueSource(classes = { LazyBean.class, Prototype.class })
	void checksClassOfABeanThatIsMadeLaterWithoutCreatingIt(Class<?> configuration) {
		assertThat(LockContexts.failure(configuration)).hasMessageContainingAll(Wrong.class.getName() + ".run(String)",
				"key = \"#ident\"");
		assertThat(Wrong.created).isZero();
	}

	@Test
	void lazyBeanBehindInterfaceFailsWhenItIsMade() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(HiddenLazyBean.class)) {
			assertThatThrownBy(() -> context.getBean(Api.class)).hasRootCauseInstanceOf(LockDefinitionException.class)
				.rootCause()
				.hasMessageContainingAll(WrongApi.class.getName() + ".run(String)", "key = \"#ident\"");
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { ScopedBean.class, AlreadyProxied.class, ApiFactory.class })
	void beanIsLockedHoweverItIsMade(Class<?> maker) {
		try (AnnotationConfigApplicationContext context = LockContexts.start(maker)) {
			context.getBean(Api.class).run("42");
			assertThat(context.getBean(RecordingLocks.class).lastKeys()).containsExactly("42");
		}
	}

	@Test
	void methodsOfARepositoryAreLocked() {
		for (boolean classProxies : new boolean[] { true, false }) {
			try (AnnotationConfigApplicationContext context = classProxies ? LockContexts.start(RepositoryFactory.class)
					: LockContexts.startWithInterfaceProxies(RepositoryFactory.class)) {
				Repository repository = context.getBean(Repository.class);
				RecordingLocks locks = context.getBean(RecordingLocks.class);
				assertThat(repository.find("42")).isEqualTo("find under [42]");
				assertThat(repository.count()).isEqualTo("count under []");
				locks.everythingBusy = true;
				assertThat(repository.find("43")).isNull();
				assertThat(locks.requests).hasSize(2);
			}
		}
	}

	@Test
	void adviceOfARepositoryIsChecked() {
		List<AdvisorChain> chains = new ArrayList<>();
		LockContexts.start(observed(chains, RepositoryFactory.class, UserOfTheRepository.class)).close();
		assertThat(chains).singleElement()
			.satisfies(
					(chain) -> assertThat(chain.method()).isEqualTo(Repository.class.getTypeName() + ".find(String)"));
	}

	@Test
	void adviceOfARepositoryThatIsMadeLateIsChecked() {
		List<AdvisorChain> chains = new ArrayList<>();
		try (AnnotationConfigApplicationContext context = LockContexts
			.start(observed(chains, RepositoryFactory.class))) {
			assertThat(chains).isEmpty();
			context.getBean(Repository.class);
			assertThat(chains).hasSize(1);
		}
	}

	private static Consumer<AnnotationConfigApplicationContext> observed(List<AdvisorChain> chains, Class<?>... beans) {
		return (context) -> {
			context.registerBean(LockedMethodRule.class, () -> chains::add);
			context.register(beans);
		};
	}

	@Test
	void callIsRefusedWhereTheInterceptorFindsNoAnnotation() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Good.class)) {
			ProxyFactory factory = new ProxyFactory(new Plain());
			factory.setProxyTargetClass(true);
			factory.addAdvice(context.getBean(LockInterceptor.class));
			Plain plain = (Plain) factory.getProxy();
			assertThatIllegalStateException().isThrownBy(() -> plain.run("42"))
				.withMessageContainingAll("no @DistributedLock on", Plain.class.getTypeName() + ".run(",
						"Let its own advisor apply");
		}
	}

	@Test
	void productThatDoesNotExistYetIsNotCreated() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(ApiFactory.class)) {
			assertThat(context.getBean(ApiFactory.class).created).isZero();
		}
	}

	@Test
	void needsNoTemplateWhereNothingIsAnnotated() {
		LockContexts.start((context) -> {
			context.register(Plain.class);
			context.addBeanFactoryPostProcessor(
					(beans) -> context.removeBeanDefinition(beans.getBeanNamesForType(LockTemplate.class)[0]));
		}).close();
	}

	@Test
	void templateThatCannotBeMadeStopsTheStart() {
		assertThatThrownBy(() -> LockContexts.start(BrokenTemplate.class, Good.class).close())
			.hasRootCauseMessage("no store");
		LockContexts.start(BrokenTemplate.class, Plain.class).close();
	}

	@Test
	void doesNotProxyBeansWithoutAnnotations() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Plain.class, Good.class)) {
			assertThat(AopUtils.isAopProxy(context.getBean(Plain.class))).isFalse();
			assertThat(AopUtils.isAopProxy(context.getBean(Good.class))).isTrue();
		}
	}

	@Test
	void templateIsNotCreatedBeforeTheBeanPostProcessors() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Witness.class, Good.class)) {
			assertThat(context.getBean(Witness.class).seen).contains("locks", "good");
		}
	}

	static class Good implements Api {

		@Override
		@DistributedLock(key = "#id")
		public void run(String id) {
		}

	}

	static class Plain {

		public void run(String id) {
		}

	}

	static class Wrong {

		static int created;

		Wrong() {
			created++;
		}

		@DistributedLock(key = "#ident")
		public void run(String id) {
		}

	}

	interface Api {

		@DistributedLock(key = "#id")
		void run(String id);

	}

	static class WrongApi implements Api {

		@Override
		@DistributedLock(key = "#ident")
		public void run(String id) {
		}

	}

	@Import(Good.class)
	static class TooEarly {

		@Bean
		static EarlyProcessor greedy(Good good) {
			return new EarlyProcessor();
		}

	}

	static class EarlyProcessor implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

	}

	static class LazyBean {

		@Bean
		@Lazy
		Wrong wrong() {
			return new Wrong();
		}

	}

	static class Prototype {

		@Bean
		@Scope(BeanDefinition.SCOPE_PROTOTYPE)
		Wrong wrong() {
			return new Wrong();
		}

	}

	static class HiddenLazyBean {

		@Bean
		@Lazy
		Api api() {
			return new WrongApi();
		}

	}

	static class BrokenTemplate {

		@Bean
		@Lazy
		@Primary
		LockTemplate broken() {
			throw new IllegalStateException("no store");
		}

	}

	static class ScopedBean {

		@Bean
		@Scope(scopeName = BeanDefinition.SCOPE_PROTOTYPE, proxyMode = ScopedProxyMode.TARGET_CLASS)
		Good good() {
			return new Good();
		}

	}

	static class ApiFactory implements FactoryBean<Api> {

		private int created;

		@Override
		public Api getObject() {
			this.created++;
			return (Api) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Api.class },
					(proxy, method, arguments) -> null);
		}

		@Override
		public Class<?> getObjectType() {
			return Api.class;
		}

	}

	@Import(ApiFactory.class)
	static class TooEarlyProduct {

		@Bean
		static EarlyProcessor greedy(Api api) {
			return new EarlyProcessor();
		}

	}

	@Import(Good.class)
	static class EarlyFactoryPostProcessor implements BeanFactoryPostProcessor, Ordered {

		@Override
		public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
			beanFactory.getBean(Good.class);
		}

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

	}

	interface Repository {

		@DistributedLock(key = "#id", onBusy = OnBusy.SKIP)
		@Nullable String find(String id);

		String count();

	}

	/**
	 * As Spring Data makes repositories: the object behind the proxy does not implement
	 * the interface.
	 */
	static class RepositoryFactory implements FactoryBean<Repository> {

		@Override
		public Repository getObject() {
			ProxyFactory factory = new ProxyFactory();
			factory.setTarget(new Plain());
			factory.addInterface(Repository.class);
			factory.addAdvice((MethodInterceptor) (invocation) -> invocation.getMethod().getName() + " under "
					+ CallChain.currentLocks(KeyedLock.class).stream().map(KeyedLock::key).toList());
			return (Repository) factory.getProxy();
		}

		@Override
		public Class<?> getObjectType() {
			return Repository.class;
		}

	}

	record UserOfTheRepository(Repository repository) {
	}

	static class Witness implements BeanPostProcessor {

		private final List<String> seen = new ArrayList<>();

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			this.seen.add((beanName.endsWith("Good")) ? "good" : beanName);
			return bean;
		}

	}

	static class AlreadyProxied {

		@Bean
		Good good() {
			ProxyFactory factory = new ProxyFactory(new Good());
			factory.setProxyTargetClass(true);
			return (Good) factory.getProxy();
		}

	}

}
