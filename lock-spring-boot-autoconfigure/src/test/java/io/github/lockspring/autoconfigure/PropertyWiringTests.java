package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import io.github.lockspring.etcd.EtcdLockStore;
import io.github.lockspring.fencing.JdbcFencingGuard;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.interceptor.LockInterceptor;
import io.github.lockspring.internal.interceptor.LockOperationSourceAdvisor;
import io.github.lockspring.internal.transaction.TransactionListenerRegistrar;
import io.github.lockspring.internal.transaction.Verification;
import io.github.lockspring.jdbc.JdbcLockStore;
import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.redis.redlock.RedlockLockStore;
import io.github.lockspring.store.memory.MemoryLockStore;
import io.github.lockspring.zookeeper.ZooKeeperLockStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each property arrives at the setting that it is for. All are set at once, to values
 * that differ from their defaults and from each other, so none can be left out or mixed
 * up with another.
 */
class PropertyWiringTests {

	private static final Environment NOTHING_ELSE = new MockEnvironment();

	private static final Map<String, Wiring> WIRINGS = new TreeMap<>();

	static {
		engine("ttl", "41s", Duration.ofSeconds(41), EngineSettings::ttl);
		engine("wait-time", "42s", Duration.ofSeconds(42), EngineSettings::waitTime);
		engine("max-hold", "43s", Duration.ofSeconds(43), EngineSettings::maxHold);
		engine("async-release", "true", true, EngineSettings::asyncRelease);
		// commandTimeoutArrivesAtEachStore tests the others
		engine("command-timeout", "4s", Duration.ofSeconds(4), EngineSettings::commandTimeout);
		bound("key-prefix", "other:", Set.of("other:"),
				(properties) -> Stream
					.of(field(redis(properties), "keyPrefix"), field(redlock(properties), "keyPrefix"),
							field(jdbc(properties), "keyPrefix"), field(zookeeper(properties), "keyPrefix"),
							field(etcd(properties), "keyPrefix"))
					.collect(Collectors.toSet()));
		bound("redis.replica-acks", "7", 7, (properties) -> field(redis(properties), "replicaAcks"));
		bound("redlock.max-ttl", "51s", Duration.ofSeconds(51), (properties) -> field(redlock(properties), "maxTtl"));
		// RedlockLockStoreAutoConfigurationTests use these two
		bound("redlock.nodes", "redis://a:1,rediss://b:2,redis://c:3", 3,
				(properties) -> RedlockNodes.parse(properties.redlock()).size());
		bound("redlock.ssl.bundle", "nodes", "nodes", (properties) -> properties.redlock().ssl().bundle());
		bound("jdbc.table", "other_lease", "other_lease", (properties) -> field(jdbc(properties), "table"));
		bound("jdbc.connections", "54", 54, (properties) -> field(jdbc(properties), "connections"));
		bound("jdbc.purge-after", "31d", Duration.ofDays(31), (properties) -> field(jdbc(properties), "purgeAfter"));
		// JdbcLockStoreAutoConfigurationTests use it
		bound("jdbc.initialize-schema", "never", DistributedLockProperties.InitializeSchema.NEVER,
				(properties) -> properties.jdbc().initializeSchema());
		bound("zookeeper.session-timeout", "57s", Duration.ofSeconds(57),
				(properties) -> field(zookeeper(properties), "sessionTimeout"));
		bound("zookeeper.auth", "digest:me:secret", "digest:me:secret",
				(properties) -> field(zookeeper(properties), "auth"));
		// ZooKeeperLockStoreAutoConfigurationTests use it
		bound("zookeeper.connect-string", "zoo:1", "zoo:1", (properties) -> properties.zookeeper().connectString());
		// EtcdLockStoreAutoConfigurationTests use these
		bound("etcd.endpoints", "https://a:1,https://b:2", List.of("https://a:1", "https://b:2"),
				(properties) -> properties.etcd().endpoints());
		bound("etcd.username", "me", "me", (properties) -> properties.etcd().username());
		bound("etcd.password", "secret", "secret", (properties) -> properties.etcd().password());
		bound("etcd.ssl.bundle", "mine", "mine", (properties) -> properties.etcd().ssl().bundle());
		context("enabled", "false", true, (context) -> context.getBeansOfType(LockInterceptor.class).isEmpty());
		context("store", "memory", true, (context) -> context.getBeansOfType(MemoryLockStore.class).size() == 1);
		context("order", "47", 47, (context) -> context.getBean(LockOperationSourceAdvisor.class).getOrder());
		context("transaction.verify-before-commit", "remote", Verification.REMOTE,
				(context) -> ((Supplier<?>) field(field(context.getBean(TransactionListenerRegistrar.class), "guard"),
						"verification"))
					.get());
		context("fencing.table", "other_fence", "other_fence",
				(context) -> field(field(context.getBean(JdbcFencingGuard.class), "table"), "name"));
		context("fencing.initialize-schema", "never", DistributedLockProperties.InitializeSchema.NEVER,
				(context) -> field(context.getBean("lockspringFenceTableInitializer"), "mode"));
	}

	@ParameterizedTest
	@MethodSource("names")
	void propertyArrivesAtItsSetting(String name) {
		Wiring wiring = Objects.requireNonNull(WIRINGS.get(name));
		assertThat(wiring.setting.apply(name)).isEqualTo(wiring.expected);
	}

	@Test
	void commandTimeoutArrivesAtEachStore() {
		DistributedLockProperties properties = all();
		assertThat(List.of(field(redis(properties), "commandTimeout"), field(redlock(properties), "commandTimeout"),
				field(etcd(properties), "commandTimeout")))
			.containsOnly(Duration.ofSeconds(4));
		// LockConnectionPoolTests use that of a database
		assertThat(LockTimeouts.command(properties, Store.JDBC, NOTHING_ELSE)).hasSeconds(4);
	}

	static Set<String> names() {
		return WIRINGS.keySet();
	}

	private static void engine(String name, String value, Object expected,
			Function<EngineSettings, @Nullable Object> setting) {
		bound(name, value, expected,
				(properties) -> setting.apply(ReflectionTestUtils.invokeMethod(LockAutoConfiguration.Engine.class,
						"settings", properties, new MemoryLockStore(), NOTHING_ELSE)));
	}

	private static RedisLockStore.Builder redis(DistributedLockProperties properties) {
		return RedisLockStoreAutoConfiguration.configure(RedisLockStore.builder(new JedisConnectionFactory()),
				properties, NOTHING_ELSE);
	}

	private static RedlockLockStore.Builder redlock(DistributedLockProperties properties) {
		return RedlockLockStoreAutoConfiguration.configure(RedlockLockStore.builder(List.of()), properties,
				NOTHING_ELSE);
	}

	private static JdbcLockStore.Builder jdbc(DistributedLockProperties properties) {
		return JdbcLockStoreAutoConfiguration.configure(JdbcLockStore.builder(new DriverManagerDataSource()),
				properties);
	}

	private static ZooKeeperLockStore.Builder zookeeper(DistributedLockProperties properties) {
		return ZooKeeperLockStoreAutoConfiguration.configure(ZooKeeperLockStore.builder("zoo:1"), properties);
	}

	private static EtcdLockStore.Builder etcd(DistributedLockProperties properties) {
		return EtcdLockStoreAutoConfiguration.configure(EtcdLockStore.builder(() -> {
			throw new IllegalStateException("not built");
		}), properties, NOTHING_ELSE);
	}

	private static void bound(String name, String value, Object expected,
			Function<DistributedLockProperties, @Nullable Object> setting) {
		WIRINGS.put(name, new Wiring(value, expected, (property) -> setting.apply(all())));
	}

	private static DistributedLockProperties all() {
		Map<String, String> values = new HashMap<>();
		WIRINGS.forEach((name, wiring) -> values.put("distributed-lock." + name, wiring.value));
		return new Binder(new MapConfigurationPropertySource(values))
			.bind("distributed-lock", DistributedLockProperties.class)
			.get();
	}

	/** What needs more than its settings is looked at in an application. */
	private static void context(String name, String value, Object expected,
			Function<AssertableApplicationContext, @Nullable Object> setting) {
		WIRINGS.put(name, new Wiring(value, expected, (property) -> {
			Object[] arrived = new Object[1];
			Applications.inMemory()
				.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
				.withPropertyValues("spring.datasource.generate-unique-name=true",
						"distributed-lock." + property + "=" + value)
				.run((context) -> arrived[0] = setting.apply(context));
			return arrived[0];
		}));
	}

	private static Object field(Object owner, String name) {
		return Objects.requireNonNull(ReflectionTestUtils.getField(owner, name));
	}

	private record Wiring(String value, Object expected, Function<String, @Nullable Object> setting) {
	}

}
