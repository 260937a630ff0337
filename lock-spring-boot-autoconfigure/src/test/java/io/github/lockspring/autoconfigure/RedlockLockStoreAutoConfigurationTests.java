package io.github.lockspring.autoconfigure;

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
import io.github.lockspring.testsupport.redis.RedlockServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

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
	}

	@Test
	void locksAreOnTheNodesAlthoughTheApplicationHasARedisToo() {
		on(Applications.onSharedServer()).run((context) -> assertThat(context).doesNotHaveBean(RedisLockStore.class)
			.hasSingleBean(RedlockLockStore.class));
	}

	@ParameterizedTest
	@ValueSource(classes = { LongLease.class, LongHold.class })
	void annotationWithALongerLeaseThanTheLongestStopsTheStart(Class<?> type) {
		ApplicationContextRunner runner = on(Applications.withoutRedis()).withUserConfiguration(type)
			.withPropertyValues("distributed-lock.redlock.max-ttl=2m");
		FailureAnalysis failure = StartupFailures.of(runner);
		assertThat(failure.getDescription()).containsPattern("Attribute: (ttl|minHold) = \"3m\"")
			.contains("it is longer than distributed-lock.redlock.max-ttl = 2m");
		runner.withPropertyValues("distributed-lock.redlock.max-ttl=3m")
			.run((context) -> assertThat(context).hasNotFailed());
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

	static class LongLease {

		@DistributedLock(key = "'work'", ttl = "3m")
		public void work() {
		}

	}

	static class LongHold {

		@DistributedLock(key = "'work'", minHold = "3m")
		public void work() {
		}

	}

}
