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

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
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

	@Test
	void refusesBeanThatWasCreatedTooEarly() {
		LockDefinitionException error = LockContexts.failure(TooEarly.class);
		assertThat(error).hasMessageContainingAll(Good.class.getName() + ".run(String)",
				"bean 'good' is not proxied, and would run without the lock", "bean post-processor", "static", "@Lazy");
	}

	@Test
	void refusesFinishedObject() {
		LockDefinitionException error = LockContexts
			.failure((context) -> context.getBeanFactory().registerSingleton("finished", new Good()));
		assertThat(error).hasMessageContainingAll("bean 'finished' is not proxied", "as a bean definition");
	}

	@Test
	void leavesTestDoubleOfABeanAlone() {
		LockContexts.start((context) -> {
			context.registerBeanDefinition("good", new RootBeanDefinition(Good.class));
			context.getBeanFactory().registerSingleton("good", new Good());
		}).close();
	}

	@Test
	void checksClassOfLazyBeanWithoutCreatingIt() {
		LockDefinitionException error = LockContexts.failure(LazyBeans.class);
		assertThat(error).hasMessageContainingAll(Wrong.class.getName() + ".run(String)", "key = \"#ident\"");
		assertThat(Wrong.created).isZero();
	}

	@Test
	void checksClassOfPrototype() {
		LockDefinitionException error = LockContexts.failure((context) -> {
			RootBeanDefinition prototype = new RootBeanDefinition(Wrong.class);
			prototype.setScope(BeanDefinition.SCOPE_PROTOTYPE);
			context.registerBeanDefinition("prototype", prototype);
		});
		assertThat(error).hasMessageContaining(Wrong.class.getName() + ".run(String)");
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

	@Test
	void scopedProxyForwardsToLockedBean() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(ScopedBean.class)) {
			context.getBean("good", Good.class).run("42");
			assertThat(context.getBean(RecordingLocks.class).lastKeys()).containsExactly("42");
		}
	}

	@Test
	void productOfFactoryBeanIsLocked() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(ApiFactory.class)) {
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
		Consumer<AnnotationConfigApplicationContext> application = (context) -> {
			context.registerBean(AdvisorOrderRule.class, () -> chains::add);
			context.register(RepositoryFactory.class, UserOfTheRepository.class);
		};
		LockContexts.start(application).close();
		assertThat(chains).singleElement()
			.satisfies(
					(chain) -> assertThat(chain.method()).isEqualTo(Repository.class.getTypeName() + ".find(String)"));
	}

	@Test
	void adviceOfARepositoryThatIsMadeLateIsChecked() {
		List<AdvisorChain> chains = new ArrayList<>();
		Consumer<AnnotationConfigApplicationContext> application = (context) -> {
			context.registerBean(AdvisorOrderRule.class, () -> chains::add);
			context.register(RepositoryFactory.class);
		};
		try (AnnotationConfigApplicationContext context = LockContexts.start(application)) {
			assertThat(chains).isEmpty();
			context.getBean(Repository.class);
			assertThat(chains).hasSize(1);
		}
	}

	@Test
	void callIsRefusedWhereTheInterceptorFindsNoAnnotation() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Good.class)) {
			ProxyFactory factory = new ProxyFactory(new Plain());
			factory.setProxyTargetClass(true);
			factory.addAdvice(context.getBean(LockInterceptor.class));
			Plain plain = (Plain) factory.getProxy();
			assertThatIllegalStateException().isThrownBy(() -> plain.run("42"))
				.withMessageContainingAll(Plain.class.getTypeName() + ".run(String)", "would run without the lock",
						"by its own advisor");
		}
	}

	@Test
	void refusesBeanThatAnotherPostProcessorOfTheFactoryHasCreated() {
		LockDefinitionException error = LockContexts.failure(Good.class, EarlyFactoryPostProcessor.class);
		assertThat(error).hasMessageContainingAll("Good' is not proxied, and would run without the lock",
				"created too early");
	}

	@Test
	void refusesProductOfAFactoryBeanThatWasCreatedTooEarly() {
		LockDefinitionException error = LockContexts.failure(ApiFactory.class, TooEarlyProduct.class);
		assertThat(error).hasMessageContainingAll(Api.class.getTypeName() + ".run(String)",
				"ApiFactory' is not proxied, and would run without the lock");
	}

	@Test
	void productThatDoesNotExistYetIsNotCreated() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(ApiFactory.class)) {
			assertThat(context.getBean(ApiFactory.class).created).isZero();
		}
	}

	@Test
	void refusesAnnotatedBeanWhereThereIsNoTemplate() {
		LockDefinitionException error = LockContexts.failure((context) -> {
			context.register(Good.class);
			context.addBeanFactoryPostProcessor(
					(beans) -> context.removeBeanDefinition(beans.getBeanNamesForType(LockTemplate.class)[0]));
		});
		assertThat(error).hasMessageContainingAll(Good.class.getName() + ".run(String)", "there is no LockTemplate",
				"Add lock-spring-boot-starter, for Redis, or lock-spring-boot-starter-jdbc, for a database",
				"distributed-lock.store=memory", "distributed-lock.enabled=false");
	}

	@Test
	void templateThatCannotBeMadeStopsTheStart() {
		assertThatThrownBy(() -> LockContexts.start(BrokenTemplate.class, Good.class).close())
			.hasRootCauseMessage("no store");
		LockContexts.start(BrokenTemplate.class, Plain.class).close();
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

	@Test
	void beanThatIsProxiedAlreadyIsLockedToo() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(AlreadyProxied.class)) {
			context.getBean(Good.class).run("42");
			assertThat(context.getBean(RecordingLocks.class).lastKeys()).containsExactly("42");
		}
	}

	static class Good {

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

	@Configuration(proxyBeanMethods = false)
	static class TooEarly {

		@Bean
		Good good() {
			return new Good();
		}

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

	@Configuration(proxyBeanMethods = false)
	static class LazyBeans {

		@Bean
		@Lazy
		Wrong wrong() {
			return new Wrong();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HiddenLazyBean {

		@Bean
		@Lazy
		Api api() {
			return new WrongApi();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class BrokenTemplate {

		@Bean
		@Lazy
		@Primary
		LockTemplate broken() {
			throw new IllegalStateException("no store");
		}

	}

	@Configuration(proxyBeanMethods = false)
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

	@Configuration(proxyBeanMethods = false)
	static class TooEarlyProduct {

		@Bean
		static EarlyProcessor greedy(Api api) {
			return new EarlyProcessor();
		}

	}

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

	@Configuration(proxyBeanMethods = false)
	static class AlreadyProxied {

		@Bean
		Good good() {
			ProxyFactory factory = new ProxyFactory(new Good());
			factory.setProxyTargetClass(true);
			return (Good) factory.getProxy();
		}

	}

}
