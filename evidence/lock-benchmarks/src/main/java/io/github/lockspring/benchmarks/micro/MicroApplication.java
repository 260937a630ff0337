package io.github.lockspring.benchmarks.micro;

import java.util.Map;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.autoconfigure.LockAutoConfiguration;
import io.github.lockspring.autoconfigure.RedisLockStoreAutoConfiguration;
import io.github.lockspring.autoconfigure.observation.LockMetersAutoConfiguration;
import io.github.lockspring.autoconfigure.observation.LockObservationAutoConfiguration;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.store.LockStore;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.micrometer.tracing.Tracer;

import org.springframework.aop.Advisor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

/**
 * An application as users have it. Its auto-configurations are named one by one, since
 * those of the peers are on this module's class path too.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ AopAutoConfiguration.class, DataRedisAutoConfiguration.class,
		RedisLockStoreAutoConfiguration.class, LockAutoConfiguration.class })
class MicroApplication {

	/** No locks at all. */
	static final String NOTHING = "nothing";

	/** The engine over the store in memory. */
	static final String MEMORY = "memory";

	/** The engine over the store in memory, without listeners. */
	static final String MEMORY_SILENT = "memory-silent";

	/** The engine over the store in memory, with events and meters. */
	static final String MEMORY_METERED = "memory-metered";

	/**
	 * The same with an observation of each wait and hold, and a handler that does nothing
	 * with it.
	 */
	static final String MEMORY_OBSERVED = "memory-observed";

	static ConfigurableApplicationContext start(String locks) {
		return start(Map.of("distributed-lock.store", "memory", "benchmark.nothing", locks.equals(NOTHING),
				"benchmark.silent", locks.equals(MEMORY_SILENT), "benchmark.metered",
				locks.equals(MEMORY_METERED) || locks.equals(MEMORY_OBSERVED), "benchmark.observed",
				locks.equals(MEMORY_OBSERVED)));
	}

	static ConfigurableApplicationContext start(Map<String, Object> properties) {
		return new SpringApplicationBuilder(MicroApplication.class).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.logStartupInfo(false)
			.properties(properties)
			.run();
	}

	@Bean
	OrderService orderService() {
		return new OrderService();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static Advisor noOpAdvisor() {
		return NoOpAdvice.advisor();
	}

	@Bean
	@ConditionalOnBooleanProperty("benchmark.nothing")
	LockTemplate noLocks() {
		return new NoLocks();
	}

	/**
	 * In place of the engine of the auto-configuration, which reports events to every
	 * application.
	 */
	@Bean
	@ConditionalOnBooleanProperty("benchmark.silent")
	LockEngine silentEngine(LockStore store, UnitOfWork unitOfWork) {
		return new LockEngine(store, EngineSettings.defaults(), LockEvents.NOBODY, unitOfWork, LockRecorder.NONE, null);
	}

	/**
	 * Meters in a Prometheus registry.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty("benchmark.metered")
	@ImportAutoConfiguration({ MetricsAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class,
			LockMetersAutoConfiguration.class })
	static class Meters {

		@Bean
		PrometheusMeterRegistry meterRegistry() {
			return new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
		}

	}

	/**
	 * Observations, as with a tracer, and a handler that does nothing with them.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty("benchmark.observed")
	@ImportAutoConfiguration(LockObservationAutoConfiguration.class)
	static class Observations {

		@Bean
		Tracer tracer() {
			return Tracer.NOOP;
		}

		@Bean
		static ObservationRegistry observationRegistry() {
			ObservationRegistry registry = ObservationRegistry.create();
			registry.observationConfig().observationHandler((context) -> true);
			return registry;
		}

	}

}
