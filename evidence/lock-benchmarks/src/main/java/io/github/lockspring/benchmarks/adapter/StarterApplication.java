package io.github.lockspring.benchmarks.adapter;

import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

import io.github.lockspring.autoconfigure.EtcdLockStoreAutoConfiguration;
import io.github.lockspring.autoconfigure.LockAutoConfiguration;
import io.github.lockspring.autoconfigure.RedisLockStoreAutoConfiguration;
import io.github.lockspring.autoconfigure.ZooKeeperLockStoreAutoConfiguration;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.store.LockStore;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

/**
 * An application with the starter, so each lock publishes the events that every such
 * application has, to no listener; there are no meters. The auto-configurations are named
 * one by one, since those of the peers are on this module's class path too.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ RedisLockStoreAutoConfiguration.class, ZooKeeperLockStoreAutoConfiguration.class,
		EtcdLockStoreAutoConfiguration.class, LockAutoConfiguration.class })
class StarterApplication {

	/** Takes the events away. */
	static final String SILENT = "benchmark.silent";

	private static final Duration WAIT_TIME = Duration.ofMinutes(1);

	static SpringApplicationBuilder on(String store, Servers servers) {
		return new SpringApplicationBuilder(StarterApplication.class).web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.logStartupInfo(false)
			.properties(Map.of("distributed-lock.store", store, "distributed-lock.ttl", servers.ttl().toString(),
					"distributed-lock.wait-time", WAIT_TIME.toString()));
	}

	/** Adds a bean that the application defines itself. */
	static <T> ApplicationContextInitializer<ConfigurableApplicationContext> bean(Class<T> type, Supplier<T> bean) {
		return (application) -> ((GenericApplicationContext) application).registerBean(type, bean);
	}

	@Bean
	@ConditionalOnBooleanProperty(SILENT)
	LockEngine silentEngine(LockStore store, UnitOfWork unitOfWork, @Value("${distributed-lock.ttl}") Duration ttl) {
		EngineSettings defaults = EngineSettings.defaults();
		EngineSettings settings = new EngineSettings(ttl, WAIT_TIME, defaults.maxHold(), defaults.commandTimeout(),
				defaults.shutdownTimeout(), false);
		return new LockEngine(store, settings, LockEvents.NOBODY, unitOfWork, LockRecorder.NONE, null);
	}

}
