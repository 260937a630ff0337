package io.github.lockspring.autoconfigure.actuate;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.autoconfigure.Applications;
import io.github.lockspring.autoconfigure.internal.CreatedEngine;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RedlockServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the health indicator says, each detail made to happen on real servers.
 */
class DistributedLocksHealthIndicatorTests {

	private static ApplicationContextRunner on(RedisServer server) {
		return Applications.withRedis()
			.withPropertyValues("spring.data.redis.host=" + server.host(), "spring.data.redis.port=" + server.port());
	}

	@Test
	void applicationThatHasRequestedNoLockIsUnknownAndSendsNothing() {
		Applications.withRedis().withPropertyValues("spring.data.redis.port=1").run((context) -> {
			Health health = health(context);
			assertThat(health.getStatus()).isEqualTo(Status.UNKNOWN);
			assertThat(health.getDetails()).containsKey("reason");
			assertThat(context.getBeanFactory().containsSingleton("lockspringLockEngine")).isFalse();
			assertThat(context.getBeanFactory().containsSingleton("lockspringRedisLockStore")).isFalse();
		});
	}

	@Test
	@Tag("health-up")
	void healthySingleServerIsUpAndTheCheckMakesNoKey() {
		try (RedisServer server = RedisServer.start()) {
			on(server).run((context) -> {
				// written in the background by a use, and if that fails by one 20 s later
				await().until(() -> {
					use(context);
					return server.keys().stream().anyMatch((key) -> key.contains(":instance:"));
				});
				server.flushAll();
				Health health = health(context);
				assertThat(health.getStatus()).isEqualTo(Status.UP);
				assertThat(health.getDetails()).containsEntry("servers", Map.of("redis", "usable"))
					.containsEntry("messages", "not needed")
					.doesNotContainKey("warnings");
				assertThat(server.keys()).isEmpty();
			});
		}
	}

	@Test
	void storeThatDoesNotReplyIsDown() {
		try (RedisServer server = RedisServer.start()) {
			on(server).withPropertyValues("distributed-lock.command-timeout=500ms").run((context) -> {
				use(context);
				server.pause();
				Health health = health(context);
				server.resume();
				assertThat(health.getStatus()).isEqualTo(Status.DOWN);
				assertThat(servers(health).get("redis")).contains("did not reply within 500ms");
				await().until(() -> health(context).getStatus().equals(Status.UP));
			});
		}
	}

	@Test
	void inboxIsConfirmedOnceACallerHasWaitedAndNotWhereSubscriptionsAreRefused() {
		try (RedisServer server = RedisServer.start()) {
			on(server).run((context) -> {
				waitFor(context);
				await().until(() -> health(context).getDetails().get("messages").equals("confirmed"));
			});
			server.command("ACL", "SETUSER", "default", "-subscribe", "-psubscribe");
			on(server).run((context) -> {
				waitFor(context);
				Health health = health(context);
				assertThat(health.getStatus()).isEqualTo(Status.UP);
				assertThat(health.getDetails()).containsEntry("messages", "not confirmed");
				assertThat(warnings(health)).containsExactly(
						"messages do not arrive at this instance now: callers that wait poll, and wait longer");
			});
		}
	}

	@Test
	@Tag("health-warnings")
	void evictionThatRemovesLocksIsAWarning() {
		try (RedisServer server = RedisServer.start("--maxmemory-policy", "volatile-lru")) {
			on(server).run((context) -> {
				use(context);
				assertThat(warnings(health(context))).as("memory without a limit").isEmpty();
				server.command("CONFIG", "SET", "maxmemory", "100mb");
				assertThat(warnings(health(context))).containsExactly("redis: its maxmemory-policy is volatile-lru,"
						+ " which removes locks when its memory is used up: set it to noeviction");
				server.command("ACL", "SETUSER", "default", "-info");
				Health unknown = health(context);
				assertThat(unknown.getStatus()).isEqualTo(Status.UP);
				assertThat(warnings(unknown)).singleElement()
					.asString()
					.contains("it refuses INFO, so whether it evicts locks is not known");
			});
		}
	}

	@Test
	void clockThatDiffersIsAWarning() {
		try (RedisServer server = RedisServer.start()) {
			on(server).run((context) -> {
				use(context);
				ConfigurableListableBeanFactory beans = context.getBeanFactory();
				Health behind = new DistributedLocksHealthIndicator(new CreatedEngine(beans),
						InstantSource.offset(InstantSource.system(), Duration.ofSeconds(30)))
					.health();
				assertThat(behind.getStatus()).isEqualTo(Status.UP);
				assertThat(warnings(behind)).singleElement()
					.asString()
					.containsPattern("redis: its clock is (29|3\\d)\\d{3}ms behind the clock of this machine");
				Health ahead = new DistributedLocksHealthIndicator(new CreatedEngine(beans),
						InstantSource.offset(InstantSource.system(), Duration.ofHours(-1)))
					.health();
				assertThat(warnings(ahead)).singleElement().asString().contains("ahead of the clock of this machine");
			});
		}
	}

	@Test
	void tooFewReplicasAreDown() {
		try (RedisServer server = RedisServer.start(); RedisServer replica = RedisServer.start()) {
			replica.command("REPLICAOF", server.host(), String.valueOf(server.port()));
			await().until(() -> String.valueOf(server.command("INFO", "replication")).contains("state=online"));
			on(server)
				.withPropertyValues("distributed-lock.redis.replica-acks=1", "distributed-lock.command-timeout=400ms")
				.run((context) -> {
					use(context);
					assertThat(health(context).getStatus()).isEqualTo(Status.UP);
					replica.command("REPLICAOF", "NO", "ONE");
					await().until(() -> health(context).getStatus().equals(Status.DOWN));
					assertThat(servers(health(context)).get("redis"))
						.isEqualTo("distributed-lock.redis.replica-acks is 1,"
								+ " and only 0 replica(s) are connected: no lock can be acquired");
				});
		}
	}

	@Test
	@Tag("health-warnings")
	void redlockNodeThatIsDownIsAWarningAndAMajorityIsDown() {
		try (RedlockServers servers = RedlockServers.start(3)) {
			int[] ports = servers.ports();
			Applications.withRedis()
				.withPropertyValues("distributed-lock.store=redlock", "distributed-lock.ttl=5s",
						"distributed-lock.redlock.nodes=redis://127.0.0.1:%d,redis://127.0.0.1:%d,redis://127.0.0.1:%d"
							.formatted(ports[0], ports[1], ports[2]))
				.run((context) -> {
					use(context);
					await().until(() -> servers(health(context)).values().stream().allMatch("usable"::equals));
					assertThat(health(context).getDetails()).containsEntry("messages", "none: callers that wait poll")
						.doesNotContainKey("warnings");
					servers.server(0).close();
					Health oneDown = health(context);
					assertThat(oneDown.getStatus()).isEqualTo(Status.UP);
					assertThat(warnings(oneDown)).contains("1 of 3 servers are not usable; locks need 2");
					assertThat(servers(oneDown).get("127.0.0.1:" + ports[0])).isNotEqualTo("usable");
					assertThat(servers(oneDown).get("127.0.0.1:" + ports[1])).isEqualTo("usable");
					servers.server(1).close();
					assertThat(health(context).getStatus()).isEqualTo(Status.DOWN);
				});
		}
	}

	@Test
	void databaseAnswersOrIsDown() {
		Applications.withoutRedis()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=jdbc", "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID())
			.run((context) -> {
				use(context);
				Health health = health(context);
				assertThat(health.getStatus()).isEqualTo(Status.UP);
				assertThat(health.getDetails()).containsEntry("servers", Map.of("database", "usable"));
			});
	}

	@Test
	void switchedOffIndicatorIsNotThere() {
		Applications.inMemory()
			.withPropertyValues("management.health.distributedlocks.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(DistributedLocksHealthIndicator.class));
	}

	private static void use(AssertableApplicationContext context) {
		context.getBean(LockTemplate.class).acquire(LockRequest.of("used").waitTime(Duration.ofSeconds(30))).close();
	}

	/** One caller of the instance waits for another, so its inbox is needed. */
	private static void waitFor(AssertableApplicationContext context) {
		LockTemplate locks = context.getBean(LockTemplate.class);
		HeldLock lock = locks.acquire(LockRequest.of("waited").waitTime(Duration.ofSeconds(30)));
		CompletableFuture<Void> waiter = CompletableFuture
			.runAsync(() -> locks.acquire(LockRequest.of("waited").waitTime(Duration.ofMinutes(1))).close());
		await().until(() -> !health(context).getDetails().get("messages").equals("not needed"));
		lock.close();
		waiter.join();
	}

	private static Health health(AssertableApplicationContext context) {
		return context.getBean(DistributedLocksHealthIndicator.class).health();
	}

	@SuppressWarnings("unchecked")
	private static Map<String, String> servers(Health health) {
		return (Map<String, String>) health.getDetails().get("servers");
	}

	@SuppressWarnings("unchecked")
	private static List<String> warnings(Health health) {
		return (List<String>) health.getDetails().getOrDefault("warnings", List.of());
	}

}
