package io.github.lockspring.autoconfigure.observation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.autoconfigure.Applications;
import io.github.lockspring.internal.LabelledRequest;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert.TestObservationRegistryAssertReturningObservationContextAssert;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.observation.LettuceObservationAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.micrometer.tracing.autoconfigure.NoopTracerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What a trace shows of the locks of a call.
 */
class LockObservationTests {

	/** The application's own registry takes the place of Spring Boot's. */
	private final ApplicationContextRunner unobserved = Applications.inMemory()
		.withUserConfiguration(MeteredService.class)
		.withBean(TestObservationRegistry.class, TestObservationRegistry::create);

	private final ApplicationContextRunner runner = this.unobserved.withBean(Tracer.class, () -> Tracer.NOOP);

	private static ApplicationContextRunner traced(ApplicationContextRunner runner) {
		InMemorySpanExporter exporter = InMemorySpanExporter.create();
		SdkTracerProvider provider = SdkTracerProvider.builder()
			.addSpanProcessor(SimpleSpanProcessor.create(exporter))
			.build();
		Tracer tracer = new OtelTracer(provider.get("test"), new OtelCurrentTraceContext(), (event) -> {
		});
		return runner
			.withConfiguration(AutoConfigurations.of(ObservationAutoConfiguration.class, MetricsAutoConfiguration.class,
					CompositeMeterRegistryAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class,
					LettuceObservationAutoConfiguration.class))
			.withBean(InMemorySpanExporter.class, () -> exporter)
			.withBean(Tracer.class, () -> tracer)
			.withBean(DefaultTracingObservationHandler.class, tracer)
			.withUserConfiguration(MeteredService.class);
	}

	private static TestObservationRegistryAssertReturningObservationContextAssert assertThatObservation(
			ApplicationContext context, String name) {
		return assertThatObservations(context).hasObservationWithNameEqualTo(name).that();
	}

	private static TestObservationRegistryAssert assertThatObservations(ApplicationContext context) {
		return TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class));
	}

	private static LockTemplate locks(ApplicationContext context) {
		return context.getBean(LockTemplate.class);
	}

	@Test
	void annotatedMethodIsObservedWhileItWaitsAndWhileItHoldsTheLock() {
		this.runner.run((context) -> {
			AtomicReference<String> current = new AtomicReference<>();
			ObservationRegistry registry = context.getBean(ObservationRegistry.class);
			context.getBean(MeteredService.class)
				.ship("4711", () -> current.set(registry.getCurrentObservation().getContextView().getName()));
			assertThat(current).hasValue("distributed.lock.hold");
			assertThat(registry.getCurrentObservation()).isNull();
			assertThatObservations(context).hasNumberOfObservationsEqualTo(2);
			assertThatObservation(context, "distributed.lock.wait").hasContextualNameEqualTo("lock wait order")
				.hasLowCardinalityKeyValue("lock.name", "order")
				.hasLowCardinalityKeyValue("lock.store", "memory")
				.hasLowCardinalityKeyValue("lock.outcome", "acquired")
				.doesNotHaveHighCardinalityKeyValueWithKey("lock.key")
				.hasBeenStopped()
				.doesNotHaveError();
			assertThatObservation(context, "distributed.lock.hold")
				.hasLowCardinalityKeyValue("lock.outcome", "released")
				.hasBeenStopped();
		});
	}

	@Test
	void keysAreAValueIfAConventionOfTheApplicationAddsThem() {
		this.runner.withBean(LockObservationConvention.class, KeysInTraces::new).run((context) -> {
			locks(context).execute(new LabelledRequest(LockRequest.of("b"), List.of("b", "a"), null), HeldLock::isHeld);
			assertThatObservation(context, "distributed.lock.hold").hasContextualNameEqualTo("lock hold none")
				.hasHighCardinalityKeyValue("lock.key", "a, b")
				.hasLowCardinalityKeyValue("lock.name", "none");
		});
	}

	@Test
	void busyLockIsAnOutcomeAndNoError() {
		this.runner.run((context) -> {
			try (HeldLock held = locks(context).acquire(LockRequest.of("a"))) {
				assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(
						() -> locks(context).execute(LockRequest.of("a").waitTime(Duration.ZERO), HeldLock::isHeld));
			}
			assertThatObservations(context).hasNumberOfObservationsEqualTo(1);
			assertThatObservation(context, "distributed.lock.wait").hasLowCardinalityKeyValue("lock.outcome", "busy")
				.hasBeenStopped()
				.doesNotHaveError();
		});
	}

	@Test
	void failureOfTheWorkIsTheErrorOfTheHold() {
		this.runner.run((context) -> {
			assertThatIllegalStateException().isThrownBy(() -> locks(context).execute(LockRequest.of("a"), (lock) -> {
				throw new IllegalStateException("work");
			}));
			assertThatObservation(context, "distributed.lock.hold")
				.hasLowCardinalityKeyValue("lock.outcome", "released")
				.thenError()
				.hasMessage("work");
		});
	}

	@Test
	void lossIsTheOutcomeOfTheHold() {
		this.runner.run((context) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> locks(context).executeWithoutResult(
					LockRequest.of("a").ttl(Duration.ofMillis(100)).renew(false),
					(lock) -> Awaitility.await().until(() -> !lock.isHeld())));
			assertThatObservation(context, "distributed.lock.hold").hasLowCardinalityKeyValue("lock.outcome", "lost")
				.hasError();
		});
	}

	@Test
	void reentryAndHandlesAreNotObserved() {
		this.runner.run((context) -> {
			locks(context).acquire(LockRequest.of("b")).close();
			locks(context).execute(LockRequest.of("a"),
					(outer) -> locks(context).execute(LockRequest.of("a"), HeldLock::isHeld));
			assertThatObservations(context).hasNumberOfObservationsEqualTo(2);
		});
	}

	@Test
	void conventionOfTheRegistryCountsToo() {
		this.runner.run((context) -> {
			context.getBean(ObservationRegistry.class).observationConfig().observationConvention(new KeysInTraces());
			locks(context).execute(LockRequest.of("a"), HeldLock::isHeld);
			assertThatObservation(context, "distributed.lock.wait").hasHighCardinalityKeyValue("lock.key", "a");
		});
	}

	@Test
	void nothingIsObservedWithoutATracer() {
		this.unobserved.run((context) -> {
			locks(context).execute(LockRequest.of("a"), HeldLock::isHeld);
			assertThatObservations(context).doesNotHaveAnyObservation();
		});
	}

	@Test
	void tracerOfSpringBootIsSeen() {
		this.unobserved.withConfiguration(AutoConfigurations.of(NoopTracerAutoConfiguration.class)).run((context) -> {
			locks(context).execute(LockRequest.of("a"), HeldLock::isHeld);
			assertThatObservations(context).hasNumberOfObservationsEqualTo(2);
		});
	}

	@Test
	void exportedTraceHasWaitAndHoldAsSpansOfTheCallAndNoCommandOfLocks() {
		traced(Applications.onSharedServer()).run((context) -> {
			Tracer tracer = context.getBean(Tracer.class);
			Span call = tracer.nextSpan().name("call").start();
			try (Tracer.SpanInScope scope = tracer.withSpan(call)) {
				context.getBean(MeteredService.class)
					.ship("trace-" + System.nanoTime(), () -> tracer.nextSpan().name("work").start().end());
			}
			call.end();
			Map<String, SpanData> spans = spans(context);
			assertThat(spans).containsOnlyKeys("call", "lock wait order", "lock hold order", "work");
			assertThat(spans.get("lock wait order").getParentSpanId()).isEqualTo(spans.get("call").getSpanId());
			assertThat(spans.get("lock hold order").getParentSpanId()).isEqualTo(spans.get("call").getSpanId());
			assertThat(spans.get("work").getParentSpanId()).isEqualTo(spans.get("lock hold order").getSpanId());
			assertThat(spans.get("lock hold order").getAttributes().get(AttributeKey.stringKey("lock.store")))
				.isEqualTo("redis");
			new StringRedisTemplate(context.getBean(RedisConnectionFactory.class)).hasKey("a");
			Awaitility.await()
				.untilAsserted(() -> assertThat(spans(context)).as("the application's own").hasSizeGreaterThan(4));
		});
	}

	@Test
	void springBootSwitchesThemOffAndLeavesTheMeters() {
		ApplicationContextRunner application = traced(Applications.inMemory());
		Stream
			.of(application, application.withBean(LockObservationConvention.class, KeysInTraces::new),
					application.withPropertyValues("management.observations.enable.all=false",
							"management.observations.enable.distributed=true"))
			.forEach((each) -> each.withPropertyValues("management.observations.enable.distributed.lock=false")
				.run((context) -> {
					context.getBean(MeteredService.class).report();
					assertThat(spans(context)).isEmpty();
					assertThat(context.getBean(MeterRegistry.class).getMeters())
						.extracting((meter) -> meter.getId().getName())
						.contains("distributed.lock.acquire");
				}));
	}

	@Test
	void observationsMakeNoSecondMetersOfWhatMetersCount() {
		traced(Applications.inMemory()).run((context) -> {
			context.getBean(MeteredService.class).report();
			assertThat(context.getBean(MeterRegistry.class).getMeters()).extracting((meter) -> meter.getId().getName())
				.contains("distributed.lock.acquire")
				.noneMatch((name) -> name.startsWith("distributed.lock.wait.") || name.equals("distributed.lock.wait")
						|| name.startsWith("distributed.lock.hold"));
		});
	}

	private static Map<String, SpanData> spans(ApplicationContext context) {
		List<SpanData> spans = context.getBean(InMemorySpanExporter.class).getFinishedSpanItems();
		return spans.stream().collect(Collectors.toMap(SpanData::getName, (span) -> span, (a, b) -> a));
	}

	/** As docs/reference/meters.md shows it. */
	private static final class KeysInTraces
			implements LockObservationConvention, GlobalObservationConvention<LockObservationContext> {

		@Override
		public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
			return KeyValues.of("lock.key", String.join(", ", context.getKeys()));
		}

	}

}
