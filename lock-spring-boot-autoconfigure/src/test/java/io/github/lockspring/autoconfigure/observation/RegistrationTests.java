package io.github.lockspring.autoconfigure.observation;

import java.util.List;

import io.github.lockspring.autoconfigure.Applications;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
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
		.withBean("prometheus", PrometheusMeterRegistry.class, LockMetersTests::strictRegistry);

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

	private static void countsOneCall(AssertableApplicationContext context) {
		MeterRegistry registry = context.getBean(MeterRegistry.class);
		assertThat(registry.find("distributed.lock.held").tag("name", "order").meters()).hasSize(1);
		context.getBean(MeteredService.class).report();
		assertThat(registry.get("distributed.lock.acquire")
			.tags("name", "MeteredService.report", "outcome", "acquired")
			.timer()
			.count()).isOne();
		List<Meter.Id> meters = registry.getMeters().stream().map(Meter::getId).toList();
		assertThat(meters).doesNotHaveDuplicates();
		TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
			.hasNumberOfObservationsWithNameEqualTo("distributed.lock.wait", 1)
			.hasNumberOfObservationsWithNameEqualTo("distributed.lock.hold", 1);
		assertThat(context.getBeanNamesForAnnotation(Endpoint.class)).hasSize(1);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy(exposeProxy = true)
	static class AspectJ {

	}

}
