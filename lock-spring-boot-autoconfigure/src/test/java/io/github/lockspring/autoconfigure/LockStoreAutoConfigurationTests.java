package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.redis.internal.client.FirstConnection;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.memory.MemoryLockStore;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.SentinelGroup;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.MapPropertySource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Which store an application gets, and what it reads when there is none.
 */
class LockStoreAutoConfigurationTests {

	private static final FilteredClassLoader WITHOUT_REDIS = new FilteredClassLoader("org.springframework.data.redis",
			"io.lettuce", "redis.clients");

	private static final FilteredClassLoader WITHOUT_MODULE = new FilteredClassLoader("io.github.lockspring.redis",
			"io.github.lockspring.zookeeper", "io.github.lockspring.etcd");

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void locksAreOnTheApplicationsRedis(String clientType) {
		String key = "store-" + UUID.randomUUID();
		Applications.onSharedServer()
			.withPropertyValues("spring.data.redis.client-type=" + clientType, "distributed-lock.key-prefix=shop:")
			.run((context) -> {
				assertThat(context).hasSingleBean(LockStore.class).hasSingleBean(RedisLockStore.class);
				assertThat(context.getBean(RedisConnectionFactory.class)).isInstanceOf(
						clientType.equals("jedis") ? JedisConnectionFactory.class : LettuceConnectionFactory.class);
				try (HeldLock lock = context.getBean(LockTemplate.class).acquire(LockRequest.of(key))) {
					assertThat(RedisServer.shared().pttl("shop:" + key)).isBetween(1L, 30_000L);
					assertThat(lock.isHeld()).isTrue();
				}
				assertThat(RedisServer.shared().exists("shop:" + key)).isFalse();
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void locksAreOnTheMasterBehindSentinelAndItsReplicas(String clientType) {
		SentinelGroup group = SentinelGroup.shared();
		String key = "store-" + UUID.randomUUID();
		Applications.withRedis()
			.withPropertyValues("spring.data.redis.client-type=" + clientType,
					"spring.data.redis.sentinel.master=" + SentinelGroup.NAME,
					"spring.data.redis.sentinel.nodes=" + String.join(",", group.addresses()),
					"spring.data.redis.sentinel.password=" + group.sentinelPassword(),
					"spring.data.redis.password=" + group.password(), "distributed-lock.redis.replica-acks=2")
			.run((context) -> {
				try (HeldLock lock = context.getBean(LockTemplate.class)
					.acquire(LockRequest.of(key).waitTime(Duration.ofSeconds(20)))) {
					Awaitility.await()
						.ignoreExceptions()
						.until(() -> group.servers().stream().allMatch((server) -> server.exists("lock:" + key)));
					assertThat(lock.isHeld()).isTrue();
				}
			});
	}

	@Test
	void acknowledgementsOfReplicasOfAClusterStopTheStart() {
		FailureAnalysis failure = StartupFailures.of(Applications.withRedis()
			.withUserConfiguration(LockedService.class)
			.withPropertyValues("spring.data.redis.cluster.nodes=127.0.0.1:1",
					"distributed-lock.redis.replica-acks=1"));
		assertThat(failure.getDescription()).startsWith("Invalid value '1'")
			.contains("'distributed-lock.redis.replica-acks'", "Replicas of a Redis Cluster cannot be waited for",
					"Leave the property out", "Sentinel");
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void applicationStartsWhileRedisIsDown(String clientType) {
		Applications.withRedis()
			.withUserConfiguration(LockedService.class)
			.withPropertyValues("spring.data.redis.port=1", "spring.data.redis.client-type=" + clientType,
					"distributed-lock.wait-time=100ms")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> context.getBean(LockedService.class).work());
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void applicationWithLocksConnectsWhenItHasStarted(String clientType) {
		try (RedisServer server = RedisServer.start()) {
			Applications.withRedis()
				.withUserConfiguration(LockedService.class)
				.withPropertyValues("spring.data.redis.host=" + server.host(),
						"spring.data.redis.port=" + server.port(), "spring.data.redis.client-type=" + clientType)
				.run((context) -> Awaitility.await()
					.atMost(Duration.ofMinutes(1))
					.until(() -> server.calls("evalsha") + server.calls("eval") > 0));
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void applicationWithLocksThatCannotConnectStartsAndWarnsOnce(String clientType) {
		Logger logger = (Logger) LoggerFactory.getLogger(FirstConnection.class);
		Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
		ListAppender<ILoggingEvent> events = new ListAppender<>();
		events.list = Collections.synchronizedList(events.list);
		events.start();
		root.addAppender(events);
		logger.setLevel(Level.DEBUG);
		try {
			Applications.withRedis()
				.withUserConfiguration(LockedService.class)
				.withPropertyValues("spring.data.redis.port=1", "spring.data.redis.client-type=" + clientType)
				.run((context) -> {
					assertThat(context).hasNotFailed();
					Awaitility.await()
						.atMost(Duration.ofMinutes(1))
						.until(() -> List.copyOf(events.list)
							.stream()
							.anyMatch((event) -> event.getLoggerName().equals(logger.getName())
									&& event.getLevel() == Level.WARN));
				});
			assertThat(List.copyOf(events.list)).filteredOn((event) -> event.getLevel().isGreaterOrEqual(Level.WARN))
				.singleElement()
				.satisfies((event) -> assertThat(event.getFormattedMessage()).contains("Redis at localhost:1"));
		}
		finally {
			logger.setLevel(null);
			root.detachAppender(events);
		}
	}

	@Test
	void memoryStoreNeedsNoRedis() {
		Applications.inMemory()
			.withUserConfiguration(LockedService.class)
			.withClassLoader(WITHOUT_REDIS)
			.run((context) -> {
				assertThat(context).hasSingleBean(MemoryLockStore.class);
				assertThat(context.getBean(LockedService.class).work()).isTrue();
			});
	}

	@Test
	void memoryStoreIsTakenAlthoughThereIsRedis() {
		Applications.onSharedServer()
			.withPropertyValues("distributed-lock.store=memory")
			.run((context) -> assertThat(context).getBean(LockStore.class).isInstanceOf(MemoryLockStore.class));
	}

	@ParameterizedTest
	@ValueSource(strings = { "MEMORY", "mem-ory", " memory " })
	void storeIsReadAsThePropertiesReadIt(String store) {
		Applications.onSharedServer()
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("store", Map.of("distributed-lock.store", store))))
			.run((context) -> assertThat(context).getBean(LockStore.class).isInstanceOf(MemoryLockStore.class));
	}

	@Test
	void emptyStoreIsNone() {
		Applications.onSharedServer()
			.withPropertyValues("distributed-lock.store=")
			.withClassLoader(new FilteredClassLoader("io.github.lockspring.zookeeper", "io.github.lockspring.etcd",
					"io.github.lockspring.jdbc"))
			.run((context) -> assertThat(context).getBean(LockStore.class).isInstanceOf(RedisLockStore.class));
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "memory" })
	void backsOffWhenUserDefinesStore(String store) {
		Applications.onSharedServer()
			.withUserConfiguration(OwnStoreConfiguration.class)
			.withPropertyValues("distributed-lock.store=" + store)
			.run((context) -> assertThat(context).hasSingleBean(LockStore.class).hasBean("ownStore"));
	}

	@Test
	void usersStoreNeedsNoRedis() {
		Applications.withoutRedis()
			.withUserConfiguration(OwnStoreConfiguration.class, LockedService.class)
			.withClassLoader(WITHOUT_REDIS)
			.run((context) -> assertThat(context.getBean(LockedService.class).work()).isTrue());
	}

	@Test
	void applicationWithoutLocksNeedsNoStore() {
		Applications.withoutRedis()
			.withClassLoader(WITHOUT_REDIS)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockStore.class));
	}

	@Test
	void applicationWithoutLocksConnectsToNothing() {
		RedisServer server = RedisServer.shared();
		// those of other tests, which the server may not have seen end
		Awaitility.await().until(() -> !((String) server.command("CLIENT", "LIST")).contains("name=lock"));
		Applications.onSharedServer().run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getSourceApplicationContext()
				.getBeanFactory()
				.containsSingleton("lockspringRedisLockStore")).isFalse();
			assertThat((String) server.command("CLIENT", "LIST")).doesNotContain("name=lock");
		});
	}

	@Test
	void annotatedBeanWithoutRedisOnTheClassPathStopsTheStart() {
		FailureAnalysis failure = StartupFailures
			.of(Applications.withoutRedis().withUserConfiguration(LockedService.class).withClassLoader(WITHOUT_REDIS));
		assertThat(failure.getDescription()).contains("no store")
			.contains("RedisLockStoreAutoConfiguration does not match: @ConditionalOnClass did not find required class"
					+ " 'org.springframework.data.redis.connection.RedisConnectionFactory'");
		assertThat(failure.getAction()).contains("Add what it asks for", "lock-spring-boot-starter ")
			.contains("distributed-lock.store=memory")
			.contains("distributed-lock.enabled=false");
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "redlock" })
	void annotatedBeanWithoutTheModuleOfItsStoreStopsTheStart(String store) {
		FailureAnalysis failure = StartupFailures.of(Applications.onSharedServer()
			.withUserConfiguration(LockedService.class)
			.withPropertyValues("distributed-lock.store=" + store,
					"distributed-lock.redlock.nodes=redis://a,redis://b,redis://c")
			.withClassLoader(WITHOUT_MODULE));
		assertThat(failure.getDescription()).contains("distributed-lock.store=" + store + " needs the module lock-"
				+ store + ", which is not on the class path");
		assertThat(failure.getAction()).contains("io.github.lockspring:lock-spring-boot-starter")
			.contains("distributed-lock.store=memory");
	}

	@Test
	void memoryStoreNeedsNoModuleOfAnotherStore() {
		Applications.inMemory()
			.withUserConfiguration(LockedService.class)
			.withClassLoader(WITHOUT_MODULE)
			.run((context) -> assertThat(context.getBean(LockedService.class).work()).isTrue());
	}

	@Test
	void applicationWithoutLocksNeedsNoModuleOfAStore() {
		Applications.onSharedServer()
			.withClassLoader(WITHOUT_MODULE)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockStore.class));
	}

	@Test
	void injectedTemplateWithoutRedisOnTheClassPathStopsTheStart() {
		FailureAnalysis failure = StartupFailures.of(Applications.withoutRedis()
			.withUserConfiguration(ProgramConfiguration.class)
			.withClassLoader(WITHOUT_REDIS));
		assertThat(failure.getDescription()).contains("RedisConnectionFactory");
	}

	@Test
	void annotatedBeanWithoutConnectionFactoryStopsTheStart() {
		FailureAnalysis failure = StartupFailures
			.of(Applications.withoutRedis().withUserConfiguration(LockedService.class));
		assertThat(failure.getDescription()).contains("RedisConnectionFactory", "did not find any beans");
		assertThat(failure.getAction()).contains("DataRedisAutoConfiguration")
			.contains("distributed-lock.store=memory")
			.contains("distributed-lock.enabled=false");
	}

	@Test
	void annotatedBeanWithSeveralConnectionFactoriesStopsTheStart() {
		FailureAnalysis failure = StartupFailures
			.of(Applications.withRedis().withUserConfiguration(LockedService.class, TwoFactoriesConfiguration.class));
		assertThat(failure.getDescription()).contains("RedisConnectionFactory")
			.contains("found multiple beans", "'cacheRedis'", "'lockRedis'");
		assertThat(failure.getAction()).contains("@Primary").contains("RedisLockStore.builder");
	}

	@Test
	void applicationWithoutLocksMayHaveSeveralConnectionFactories() {
		Applications.withRedis()
			.withUserConfiguration(TwoFactoriesConfiguration.class)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LockStore.class));
	}

	@Test
	void primaryConnectionFactoryIsTaken() {
		Applications.withRedis()
			.withUserConfiguration(LockedService.class, TwoFactoriesConfiguration.class,
					PrimaryFactoryConfiguration.class)
			.run((context) -> assertThat(context.getBean(LockedService.class).work()).isTrue());
	}

	@Test
	void errorNamesTheConnectionFactoryOnlyWhereThereAreSeveral() {
		LockRequest request = LockRequest.of("key").waitTime(Duration.ZERO);
		Applications.withRedis()
			.withUserConfiguration(LockedService.class, TwoFactoriesConfiguration.class,
					UnreachableFactoryConfiguration.class)
			.run((context) -> assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> context.getBean(LockTemplate.class).acquire(request))
				.withStackTraceContaining(
						"Redis at redis.invalid:6379 (database 3, user 'app', bean 'unreachableRedis')"));
		Applications.withRedis()
			.withUserConfiguration(LockedService.class)
			.withPropertyValues("spring.data.redis.port=1")
			.run((context) -> assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> context.getBean(LockTemplate.class).acquire(request))
				.withStackTraceContaining("Redis at localhost:1 (database 0, no password): Connection refused"));
	}

	@Test
	void excludedStoreIsNamed() {
		FailureAnalysis failure = StartupFailures.of(new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, LockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=redis")
			.withUserConfiguration(ProgramConfiguration.class));
		assertThat(failure.getDescription()).contains("RedisLockStoreAutoConfiguration");
	}

	@Test
	void unknownStoreStopsTheStartWithTheListOfStores() {
		FailureAnalysis failure = StartupFailures.of(Applications.onSharedServer()
			.withUserConfiguration(LockedService.class)
			.withPropertyValues("distributed-lock.store=consul"));
		assertThat(failure.getDescription()).contains("distributed-lock.store").contains("consul");
		assertThat(failure.getAction()).contains("MEMORY").contains("REDIS");
	}

	@Test
	void commandTimeoutIsThatOfTheLocks() {
		RedisServer server = RedisServer.start();
		try (server) {
			Applications.withRedis()
				.withPropertyValues("spring.data.redis.host=" + server.host(),
						"spring.data.redis.port=" + server.port(), "distributed-lock.command-timeout=200ms")
				.run((context) -> {
					LockTemplate locks = context.getBean(LockTemplate.class);
					Awaitility.await()
						.ignoreExceptions()
						.untilAsserted(() -> locks.acquire(LockRequest.of("warm")).close());
					server.pause();
					long start = System.nanoTime();
					assertThatExceptionOfType(LockUnavailableException.class)
						.isThrownBy(() -> locks.acquire(LockRequest.of("key").waitTime(Duration.ZERO)));
					// The application's own connections would wait for a minute
					assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
					server.resume();
				});
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnStoreConfiguration {

		@Bean
		LockStore ownStore() {
			return new MemoryLockStore();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ProgramConfiguration {

		@Bean
		Object program(LockTemplate locks) {
			return new Object();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoFactoriesConfiguration {

		@Bean
		RedisConnectionFactory cacheRedis() {
			return new LettuceConnectionFactory("localhost", 1);
		}

		@Bean
		RedisConnectionFactory lockRedis() {
			return new LettuceConnectionFactory("localhost", 1);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrimaryFactoryConfiguration {

		@Bean
		@Primary
		RedisConnectionFactory mainRedis() {
			return new LettuceConnectionFactory(RedisServer.shared().host(), RedisServer.shared().port());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class UnreachableFactoryConfiguration {

		@Bean
		@Primary
		RedisConnectionFactory unreachableRedis() {
			RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("redis.invalid", 6379);
			configuration.setDatabase(3);
			configuration.setUsername("app");
			configuration.setPassword("secret");
			return new LettuceConnectionFactory(configuration);
		}

	}

}
