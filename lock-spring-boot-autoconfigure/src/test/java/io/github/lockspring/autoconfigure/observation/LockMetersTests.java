package io.github.lockspring.autoconfigure.observation;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Lock;

import javax.sql.DataSource;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import io.github.lockspring.FencingGuard;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.autoconfigure.Applications;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.awaitility.Awaitility;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a monitoring system sees of the locks of an application.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockMetersTests {

	/** Several auto-configured registries, and Spring Boot's own ways with them. */
	private final ApplicationContextRunner runner = metered(Applications.inMemory());

	private static ApplicationContextRunner metered(ApplicationContextRunner runner) {
		return runner
			.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class,
					CompositeMeterRegistryAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class))
			.withUserConfiguration(MeteredService.class);
	}

	private static ApplicationContextRunner strict(ApplicationContextRunner runner) {
		return metered(runner).withBean(PrometheusMeterRegistry.class, LockMetersTests::strictRegistry);
	}

	/** Refuses meters that do not fit together. */
	static PrometheusMeterRegistry strictRegistry() {
		PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
		registry.throwExceptionOnRegistrationFailure();
		return registry;
	}

	private static double value(ApplicationContext context, String meter, String... tags) {
		MeterRegistry registry = context.getBean(MeterRegistry.class);
		Meter found = registry.get("distributed.lock." + meter).tags(tags).meter();
		return found.measure().iterator().next().getValue();
	}

	private static List<Meter> meters(MeterRegistry registry) {
		return registry.getMeters()
			.stream()
			.filter((meter) -> meter.getId().getName().startsWith("distributed.lock"))
			.toList();
	}

	private static LockTemplate locks(ApplicationContext context) {
		return context.getBean(LockTemplate.class);
	}

	@Test
	void annotatedMethodsHaveMetersFromTheStartThatAreZero() {
		this.runner.run((context) -> {
			for (String name : List.of("order", "MeteredService.report")) {
				for (String outcome : List.of("acquired", "busy", "unavailable", "interrupted")) {
					assertThat(value(context, "acquire", "name", name, "store", "memory", "outcome", outcome)).isZero();
				}
				assertThat(value(context, "held", "name", name)).isZero();
				assertThat(value(context, "lost", "name", name, "cause", "not_owner")).isZero();
			}
		});
	}

	@Test
	void metersCreateNoEngine() {
		Applications.inMemory().withBean(SimpleMeterRegistry.class, SimpleMeterRegistry::new).run((context) -> {
			assertThat(context).hasSingleBean(LockRecorder.class);
			assertThat(meters(context.getBean(MeterRegistry.class))).isEmpty();
			assertThat(context.getBeanFactory().containsSingleton("lockspringLockEngine")).isFalse();
		});
	}

	@Test
	void programsAreCountedByTheNameOfTheirRequest() {
		this.runner.run((context) -> {
			locks(context).acquire(LockRequest.of("named", "a")).close();
			locks(context).acquire(LockRequest.of("b")).close();
			Lock bound = locks(context).asLock("c");
			bound.lock();
			assertThat(value(context, "acquire", "name", "named", "outcome", "acquired")).isOne();
			assertThat(value(context, "acquire", "name", "none", "outcome", "acquired")).isEqualTo(2);
			assertThat(value(context, "held", "name", "none")).isOne();
			bound.unlock();
			assertThat(value(context, "held", "name", "none")).isZero();
			assertThat(value(context, "usage", "name", "named")).isOne();
			assertThat(value(context, "store.commands", "command", "release", "shard", "none", "outcome", "answered"))
				.isEqualTo(3);
		});
	}

	@Test
	void manyKeysLeaveNoMoreMetersThanNames() {
		strict(Applications.inMemory()).run((context) -> {
			MeteredService service = context.getBean(MeteredService.class);
			service.ship("0", () -> {
			});
			MeterRegistry registry = context.getBean(PrometheusMeterRegistry.class);
			int before = meters(registry).size();
			for (int i = 0; i < 100_000; i++) {
				service.ship("order " + i, () -> {
				});
			}
			assertThat(meters(registry)).hasSize(before);
			assertThat(value(context, "acquire", "name", "order", "outcome", "acquired")).isEqualTo(100_001);
		});
	}

	/** What the engine reports, and when, is tested with the engine. */
	@Test
	void eachReportOfTheEngineIsCounted() {
		this.runner.run((context) -> {
			LockRecorder recorder = context.getBean(LockRecorder.class);
			recorder.requested("order", LockRecorder.Outcome.BUSY, 5);
			recorder.waiting("order", 3);
			recorder.waiting("order", -2);
			recorder.held("order", LockRecorder.Origin.REMOTE);
			recorder.renewed("order", LockRecorder.Renewal.LATE);
			recorder.lost("order", LockEvent.Lost.Cause.NOT_OWNER);
			recorder.commanded(LockRecorder.Command.RENEW, "a", false, 7);
			assertThat(value(context, "acquire", "name", "order", "outcome", "busy")).isOne();
			assertThat(value(context, "waiting", "name", "order")).isOne();
			assertThat(value(context, "held", "name", "order")).isOne();
			assertThat(value(context, "handovers", "name", "order", "kind", "remote")).isOne();
			assertThat(value(context, "renewals", "name", "order", "outcome", "late")).isOne();
			assertThat(value(context, "lost", "name", "order", "cause", "not_owner")).isOne();
			assertThat(value(context, "store.commands", "command", "renew", "shard", "a", "outcome", "failed")).isOne();
		});
	}

	@Test
	void guardsCountWhatTheyRefuse() {
		FencingGuard refusing = (resource, token) -> {
			throw new StaleFencingTokenException(resource, token, token + 1);
		};
		DataSource database = JdbcConnectionPool.create("jdbc:h2:mem:meters", "sa", "");
		this.runner.withBean(JdbcTransactionManager.class, database)
			.withBean(FencingGuard.class, () -> refusing)
			.withBean(Writer.class)
			.run((context) -> {
				TransactionTemplate transaction = new TransactionTemplate(
						context.getBean(JdbcTransactionManager.class));
				LockRequest tooShort = LockRequest.of("guarded", "a").ttl(Duration.ofMillis(100)).renew(false);
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> locks(context).executeWithoutResult(tooShort, (lock) -> transaction
						.executeWithoutResult((status) -> Awaitility.await().until(() -> !lock.isHeld()))));
				assertThat(value(context, "refusals", "name", "guarded", "guard", "commit")).isOne();
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> context.getBean(Writer.class).write());
				assertThat(value(context, "refusals", "name", "writer", "guard", "fence")).isOne();
			});
	}

	@Test
	void registryIsConfiguredBeforeItReceivesAMeterHoweverEarlyALockIsUsed() {
		this.runner.withUserConfiguration(EarlyUser.class)
			.withPropertyValues("management.metrics.tags.application=shop")
			.run((context) -> assertThat(context.getBean(SimpleMeterRegistry.class)
				.get("distributed.lock.acquire")
				.tags("name", "early", "outcome", "acquired", "application", "shop")
				.timer()).isNotNull());
	}

	/** Also where Spring Boot puts two registries into a composite one. */
	@Test // defect 38
	void lockThatIsAcquiredWhileABeanIsCreatedCausesNoWarningOfMicrometer(CapturedOutput output) {
		LoggingSystem logging = LoggingSystem.get(getClass().getClassLoader());
		String logger = CompositeMeterRegistry.class.getName();
		// it warns once in each process, and is silent by default then
		logging.setLogLevel(logger, LogLevel.DEBUG);
		strict(Applications.inMemory()).withBean(SimpleMeterRegistry.class, SimpleMeterRegistry::new)
			.withUserConfiguration(EarlyUser.class)
			.run((context) -> {
				locks(context).acquire(LockRequest.of("early", "a")).close();
				for (MeterRegistry registry : context.getBeansOfType(MeterRegistry.class).values()) {
					if (!(registry instanceof CompositeMeterRegistry)) {
						assertThat(registry.get("distributed.lock.acquire")
							.tags("name", "early", "outcome", "acquired")
							.timer()
							.count()).as("%s, since the start", registry).isOne();
					}
				}
				assertThat(context).hasBean("compositeMeterRegistry");
			});
		logging.setLogLevel(logger, null);
		assertThat(output).doesNotContain("already has registered Meters");
	}

	@Test
	void twoApplicationsMayShareARegistry() {
		PrometheusMeterRegistry shared = strictRegistry();
		ApplicationContextRunner sharing = metered(Applications.inMemory()).withBean("shared",
				PrometheusMeterRegistry.class, () -> shared, (definition) -> definition.setDestroyMethodName(""));
		sharing.run((one) -> sharing.run((two) -> {
			one.getBean(MeteredService.class).report();
			two.getBean(MeteredService.class).report();
			assertThat(shared.get("distributed.lock.acquire")
				.tags("name", "MeteredService.report", "outcome", "acquired")
				.timer()
				.count()).isEqualTo(2);
		}));
	}

	@Test
	void nothingIsMeasuredWithoutARegistry() {
		Applications.inMemory()
			.withUserConfiguration(MeteredService.class)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockRecorder.class));
	}

	@ParameterizedTest
	@CsvSource({ "io.github.lockspring.redis.RedisLockStore, redis",
			"io.github.lockspring.redis.redlock.RedlockLockStore, redlock",
			"io.github.lockspring.jdbc.JdbcLockStore, jdbc",
			"io.github.lockspring.zookeeper.ZooKeeperLockStore, zookeeper",
			"io.github.lockspring.etcd.EtcdLockStore, etcd", "io.github.lockspring.store.LockStore, custom",
			"io.github.lockspring.testsupport.history.RecordingStore, custom", "java.lang.String, none" })
	void tagOfTheStoreIsThatOfItsClass(Class<?> type, String tag) {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerBeanDefinition("store", new RootBeanDefinition(type));
		assertThat(new LockStoreName(beans).get()).isEqualTo(tag);
	}

	@Test
	void ownRecorderReplacesTheMeters() {
		this.runner.withBean("own", LockRecorder.class, () -> LockRecorder.NONE)
			.run((context) -> assertThat(context).hasSingleBean(LockRecorder.class).hasBean("own"));
	}

	static class EarlyUser {

		EarlyUser(LockTemplate locks) {
			locks.acquire(LockRequest.of("early", "a")).close();
		}

	}

	static class Writer {

		@Fenced
		@DistributedLock(name = "writer", key = "'a'")
		public void write() {
			throw new AssertionError("refused");
		}

	}

}
