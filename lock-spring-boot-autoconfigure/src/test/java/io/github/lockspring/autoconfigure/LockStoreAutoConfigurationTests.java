package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.memory.MemoryLockStore;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.MapPropertySource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

/**
 * Which store an application gets, and what it reads when there is none.
 */
class LockStoreAutoConfigurationTests {

	private static final String STARTER = "io.github.lockspring:lock-spring-boot-starter";

	private static final List<String> MODULES = List.of("redis", "jdbc", "zookeeper", "etcd");

	/** With all that each store needs but a server, and the locks on none of them yet. */
	private static final ApplicationContextRunner UNDECIDED = Applications.withRedis()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
		.withPropertyValues("spring.datasource.generate-unique-name=true", "distributed-lock.store=",
				"distributed-lock.redlock.nodes=redis://127.0.0.1:1,redis://127.0.0.1:2,rediss://127.0.0.1:3");

	private static ApplicationContextRunner on(String store) {
		return UNDECIDED.withPropertyValues("distributed-lock.store=" + store);
	}

	private static ApplicationContextRunner withTwoFactories() {
		return on("redis")
			.withBean("cacheRedis", RedisConnectionFactory.class, () -> new LettuceConnectionFactory("localhost", 1))
			.withBean("lockRedis", RedisConnectionFactory.class, () -> new LettuceConnectionFactory("localhost", 1));
	}

	private static FilteredClassLoader without(Stream<String> modules) {
		return new FilteredClassLoader(
				modules.map((module) -> "io.github.lockspring." + module).toArray(String[]::new));
	}

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
	@ValueSource(strings = { "redis spring.data.redis.port=1",
			"redis spring.data.redis.port=1 spring.data.redis.client-type=jedis", "redlock",
			"jdbc spring.datasource.url=jdbc:postgresql://127.0.0.1:1/none",
			"etcd distributed-lock.etcd.endpoints=http://127.0.0.1:1" })
	void applicationStartsWhileItsServerIsDownAndItsHealthIsDown(String store) {
		UNDECIDED.withUserConfiguration(LockedService.class)
			.withPropertyValues(("distributed-lock.store=" + store).split(" "))
			.withPropertyValues("distributed-lock.wait-time=100ms", "distributed-lock.command-timeout=2s")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> context.getBean(LockedService.class).work());
				Health health = context.getBean("distributedLocksHealthIndicator", HealthIndicator.class).health();
				assertThat(health.getStatus()).isEqualTo(Status.DOWN);
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
	@ValueSource(strings = { "MEMORY", "mem-ory", " memory " })
	void storeIsReadAsThePropertiesReadIt(String store) {
		Applications.onSharedServer()
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("store", Map.of("distributed-lock.store", store))))
			.run((context) -> assertThat(context).getBean(LockStore.class).isInstanceOf(MemoryLockStore.class));
	}

	@ParameterizedTest
	@CsvSource({ "redis, io.github.lockspring.redis.RedisLockStore", "jdbc, io.github.lockspring.jdbc.JdbcLockStore",
			"zookeeper, io.github.lockspring.zookeeper.ZooKeeperLockStore",
			"etcd, io.github.lockspring.etcd.EtcdLockStore" })
	void onlyStoreOnTheClassPathNeedsNoProperty(String only, Class<?> type) {
		UNDECIDED.withClassLoader(without(MODULES.stream().filter((module) -> !module.equals(only))))
			.run((context) -> assertThat(context).hasSingleBean(LockStore.class).hasSingleBean(type));
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis", "memory", "redlock", "jdbc" })
	void backsOffWhenUserDefinesStore(String store) {
		on(store).withBean("ownStore", LockStore.class, MemoryLockStore::new)
			.withUserConfiguration(LockedService.class)
			.run((context) -> {
				assertThat(context).hasSingleBean(LockStore.class)
					.hasBean("ownStore")
					.doesNotHaveBean("lockspringLockTableInitializer");
				assertThat(context.getBean(LockedService.class).work()).isTrue();
			});
	}

	@Test
	void applicationWithoutLocksNeedsNoStore() {
		UNDECIDED.withClassLoader(without(MODULES.stream()))
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

	@ParameterizedTest
	@CsvSource({ "redis, ''", "redlock, ''", "jdbc, -jdbc", "zookeeper, -zookeeper", "etcd, -etcd" })
	void locksWithoutTheModuleOfTheirStoreStopTheStart(String store, String starter) {
		locksWithoutAStoreStopTheStart(on(store).withClassLoader(without(MODULES.stream())),
				"distributed-lock.store=%1$s needs the module lock-%1$s, which is not on the class path"
					.formatted(store),
				STARTER + starter + ".");
	}

	@ParameterizedTest
	@MethodSource
	void locksWithoutAStoreStopTheStart(ApplicationContextRunner application, String problem, String remedy) {
		FailureAnalysis failure = StartupFailures.of(application.withUserConfiguration(LockedService.class));
		assertThat(failure.getDescription()).contains("This application uses locks, but has no store", problem);
		assertThat(failure.getAction()).contains(remedy, "distributed-lock.store=memory",
				"distributed-lock.enabled=false");
	}

	static Stream<Arguments> locksWithoutAStoreStopTheStart() {
		FilteredClassLoader withoutRedis = new FilteredClassLoader("org.springframework.data.redis", "io.lettuce",
				"redis.clients");
		String unmatched = "LockStoreAutoConfiguration does not match: @ConditionalOnClass did not find required class";
		return Stream.of(
				argumentSet("no Spring Data Redis", on("redis").withClassLoader(withoutRedis), "Redis" + unmatched,
						"Add what it asks for. It needs a RedisConnectionFactory bean"),
				argumentSet("no Spring Data Redis for Redlock", on("redlock").withClassLoader(withoutRedis),
						"Redlock" + unmatched, "The dependency " + STARTER + " brings all classes"),
				argumentSet("no connection factory", Applications.withoutRedis(), "did not find any beans",
						"DataRedisAutoConfiguration"),
				argumentSet("two connection factories", withTwoFactories(), "found multiple beans", "@Primary"),
				argumentSet("no data source",
						Applications.withoutRedis().withPropertyValues("distributed-lock.store=jdbc"),
						"did not find any beans of type javax.sql.DataSource", "spring.datasource.url"),
				argumentSet("auto-configuration excluded", new ApplicationContextRunner()
					.withConfiguration(
							AutoConfigurations.of(DataRedisAutoConfiguration.class, LockAutoConfiguration.class))
					.withPropertyValues("distributed-lock.store=redis"), "RedisLockStoreAutoConfiguration is excluded",
						"Do not exclude it"),
				argumentSet("several modules", UNDECIDED,
						"several stores on the class path (redis, zookeeper, etcd, jdbc), and distributed-lock.store"
								+ " chooses none",
						"Set distributed-lock.store to one of them"),
				argumentSet("no module of a store", UNDECIDED.withClassLoader(without(MODULES.stream())),
						"there is no module of a store on the class path",
						"%1$s, for Redis, or %1$s-jdbc, for a database, or %1$s-zookeeper, or %1$s-etcd."
							.formatted(STARTER)));
	}

	@ParameterizedTest
	@CsvSource({ "etcd, true", "etcd, false", "redlock, true" })
	void sslBundleThatIsNotThereStopsTheStart(String store, boolean others) {
		String property = "distributed-lock." + store + ".ssl.bundle";
		ApplicationContextRunner application = on(store).withUserConfiguration(LockedService.class)
			.withPropertyValues(property + "=missing", "distributed-lock.etcd.endpoints=https://localhost:1");
		FailureAnalysis failure = StartupFailures.of(others
				? application.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class)) : application);
		assertThat(failure.getDescription()).contains("'missing'", "'" + property + "'",
				"There is no SSL bundle of this name");
	}

	@Test
	void errorNamesTheConnectionFactoryOnlyWhereThereAreSeveral() {
		LockRequest request = LockRequest.of("key").waitTime(Duration.ZERO);
		RedisStandaloneConfiguration unreachable = new RedisStandaloneConfiguration("redis.invalid", 6379);
		unreachable.setDatabase(3);
		unreachable.setUsername("app");
		unreachable.setPassword("secret");
		withTwoFactories()
			.withBean("unreachableRedis", RedisConnectionFactory.class, () -> new LettuceConnectionFactory(unreachable),
					(definition) -> definition.setPrimary(true))
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

}
