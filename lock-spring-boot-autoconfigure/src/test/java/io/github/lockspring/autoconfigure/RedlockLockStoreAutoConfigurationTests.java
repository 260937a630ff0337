package io.github.lockspring.autoconfigure;

import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.redis.redlock.RedlockLockStore;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.memory.MemoryLockStore;
import io.github.lockspring.testsupport.redis.RedlockServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Applications whose locks are on several servers.
 */
class RedlockLockStoreAutoConfigurationTests {

	private static RedlockServers servers;

	@BeforeAll
	static void start() {
		servers = RedlockServers.start(3);
	}

	@AfterAll
	static void stop() {
		servers.close();
	}

	@Test
	void locksAreOnTheNodesWithoutARedisOfTheApplication() {
		String key = "redlock-" + UUID.randomUUID();
		on(Applications.withoutRedis()).withUserConfiguration(LockedService.class).run((context) -> {
			assertThat(context).hasSingleBean(LockStore.class).hasSingleBean(RedlockLockStore.class);
			try (HeldLock lock = context.getBean(LockTemplate.class).acquire(LockRequest.of(key))) {
				assertThat(servers.having("lock:" + key)).hasSizeGreaterThanOrEqualTo(2);
				((KeyedLock) lock).verify();
			}
			await().until(() -> servers.having("lock:" + key).isEmpty());
			assertThat(context.getBean(LockedService.class).work()).isTrue();
		});
		await().until(() -> threads().isEmpty());
	}

	@Test
	void locksAreOnTheNodesAlthoughTheApplicationHasARedisToo() {
		on(Applications.onSharedServer()).run((context) -> assertThat(context).doesNotHaveBean(RedisLockStore.class)
			.hasSingleBean(RedlockLockStore.class));
	}

	@Test
	void applicationStartsWhileTheNodesAreDown() {
		Applications.withoutRedis()
			.withPropertyValues("distributed-lock.store=redlock",
					"distributed-lock.redlock.nodes=redis://127.0.0.1:1,redis://127.0.0.1:2,redis://127.0.0.1:3")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(classes = { LongLease.class, LongHold.class, SecondLeaseIsLong.class })
	void annotationWithALongerLeaseThanTheLongestStopsTheStart(Class<?> type) {
		ApplicationContextRunner runner = on(Applications.withoutRedis()).withUserConfiguration(type)
			.withPropertyValues("distributed-lock.redlock.max-ttl=2m");
		FailureAnalysis failure = StartupFailures.of(runner);
		assertThat(failure.getDescription()).containsPattern("Attribute: (ttl|minHold) = \"3m\"")
			.contains("it is longer than distributed-lock.redlock.max-ttl = 2m");
		runner.withPropertyValues("distributed-lock.redlock.max-ttl=3m")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void backsOffWhenUserDefinesStore() {
		on(Applications.withoutRedis()).withUserConfiguration(OwnStoreConfiguration.class)
			.run((context) -> assertThat(context).hasSingleBean(LockStore.class).hasBean("ownStore"));
	}

	@Test
	void applicationWithoutSpringDataRedisReadsWhatIsMissing() {
		FailureAnalysis failure = StartupFailures.of(on(Applications.withoutRedis())
			.withUserConfiguration(LockedService.class)
			.withClassLoader(new FilteredClassLoader("org.springframework.data.redis", "io.lettuce", "redis.clients")));
		assertThat(failure.getDescription()).contains("RedlockLockStoreAutoConfiguration does not match",
				"RedisConnectionFactory");
	}

	@Test
	void unknownSslBundleStopsTheStart() {
		FailureAnalysis failure = StartupFailures.of(Applications.withoutRedis()
			.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=redlock", "distributed-lock.redlock.ssl.bundle=certs",
					"distributed-lock.redlock.nodes=redis://a,rediss://b,redis://c"));
		assertThat(failure.getDescription()).contains("'certs'", "distributed-lock.redlock.ssl.bundle")
			.contains("There is no SSL bundle of this name");
	}

	private static ApplicationContextRunner on(ApplicationContextRunner runner) {
		String nodes = servers.all()
			.stream()
			.map((server) -> "redis://127.0.0.1:" + server.port())
			.collect(Collectors.joining(","));
		// servers that have just started have no vote for the ttl
		return runner.withPropertyValues("distributed-lock.store=redlock", "distributed-lock.ttl=5s",
				"distributed-lock.redlock.nodes=" + nodes, "distributed-lock.wait-time=1m");
	}

	private static List<String> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map(Thread::getName)
			.filter((name) -> name.startsWith("lock-redlock"))
			.toList();
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnStoreConfiguration {

		@Bean
		LockStore ownStore() {
			return new MemoryLockStore();
		}

	}

	static class LongLease {

		@DistributedLock(key = "'work'", ttl = "3m")
		public void work() {
			// never called
		}

	}

	static class SecondLeaseIsLong {

		@DistributedLock(key = "'first'", ttl = "1m")
		public void first() {
			// never called
		}

		@DistributedLock(key = "'more'", ttl = "3m")
		public void work() {
			// never called
		}

	}

	static class LongHold {

		@DistributedLock(key = "'work'", minHold = "3m")
		public void work() {
			// never called
		}

	}

}
