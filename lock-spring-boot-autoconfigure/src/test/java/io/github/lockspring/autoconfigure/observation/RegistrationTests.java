package io.github.lockspring.autoconfigure.observation;

import java.lang.reflect.Method;
import java.util.List;

import io.github.lockspring.autoconfigure.Applications;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.micrometer.tracing.Tracer;
import org.junit.jupiter.api.Test;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.core.OverridingClassLoader;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * However an application is started, and however often: one proxy, one set of meters, one
 * endpoint, and one observation of each call.
 */
class RegistrationTests {

	private final ApplicationContextRunner runner = Applications.inMemory()
		.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class,
				CompositeMeterRegistryAutoConfiguration.class, EndpointAutoConfiguration.class))
		.withPropertyValues("management.endpoints.web.exposure.include=distributedlocks")
		.withBean(Tracer.class, () -> Tracer.NOOP)
		.withBean(TestObservationRegistry.class, TestObservationRegistry::create)
		.withBean("prometheus", PrometheusMeterRegistry.class, RegistrationTests::registry);

	private static PrometheusMeterRegistry registry() {
		PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
		registry.throwExceptionOnRegistrationFailure();
		return registry;
	}

	@Test
	void ownAspectJAutoProxyAddsNoSecondProxy() {
		this.runner.withUserConfiguration(MeteredService.class, AspectJ.class).run(RegistrationTests::countsOneCall);
	}

	@Test
	void lazyInitializationChangesNothing() {
		this.runner.withUserConfiguration(MeteredService.class)
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run(RegistrationTests::countsOneCall);
	}

	@Test
	void twoApplicationsInOneJvmCountTheirOwnCalls() {
		ApplicationContextRunner application = this.runner.withUserConfiguration(MeteredService.class);
		application.run((one) -> application.run((two) -> {
			countsOneCall(one);
			countsOneCall(two);
		}));
	}

	@Test
	void applicationThatIsRestartedWithNewClassesCountsAnew() throws Exception {
		restart();
		restart();
	}

	/** As the restart of a development tool does: other classes, the same libraries. */
	private void restart() throws ClassNotFoundException {
		ClassLoader classLoader = new RestartClassLoader();
		Thread thread = Thread.currentThread();
		ClassLoader before = thread.getContextClassLoader();
		thread.setContextClassLoader(classLoader);
		try {
			this.runner.withClassLoader(classLoader)
				.withUserConfiguration(classLoader.loadClass(MeteredService.class.getName()))
				.run((context) -> {
					assertThat(context.getType("meteredService")).isNotEqualTo(MeteredService.class);
					countsOneCall(context);
				});
		}
		finally {
			thread.setContextClassLoader(before);
		}
	}

	private static void countsOneCall(AssertableApplicationContext context) {
		assertThat(context).hasNotFailed();
		Object service = context.getBean("meteredService");
		Method report = ReflectionUtils.findMethod(service.getClass(), "report");
		assertThat(report).isNotNull();
		ReflectionUtils.invokeMethod(report, service);

		MeterRegistry registry = context.getBean(MeterRegistry.class);
		assertThat(registry.get("distributed.lock.acquire")
			.tags("name", "MeteredService.report", "outcome", "acquired")
			.timer()
			.count()).isOne();
		List<Meter.Id> meters = registry.getMeters().stream().map(Meter::getId).toList();
		assertThat(meters).doesNotHaveDuplicates();
		assertThat(registry.find("distributed.lock.held").tag("name", "order").meters()).hasSize(1);
		TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
			.hasNumberOfObservationsWithNameEqualTo("distributed.lock.wait", 1)
			.hasNumberOfObservationsWithNameEqualTo("distributed.lock.hold", 1);
		assertThat(context.getBeanNamesForAnnotation(Endpoint.class)).hasSize(1);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy(exposeProxy = true)
	static class AspectJ {

	}

	/**
	 * Loads the classes of the application itself, and has its parent load all others.
	 */
	private static final class RestartClassLoader extends OverridingClassLoader {

		RestartClassLoader() {
			super(RegistrationTests.class.getClassLoader());
		}

		@Override
		protected boolean isEligibleForOverriding(String className) {
			return className.startsWith(MeteredService.class.getName());
		}

	}

}
