package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.lockspring.etcd.EtcdStoreSettings;
import io.github.lockspring.fencing.JdbcFencingGuard;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.interceptor.LockInterceptor;
import io.github.lockspring.internal.interceptor.LockOperationSourceAdvisor;
import io.github.lockspring.internal.transaction.CommitGuard;
import io.github.lockspring.internal.transaction.TransactionListenerRegistrar;
import io.github.lockspring.internal.transaction.Verification;
import io.github.lockspring.jdbc.JdbcLockStore;
import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.redis.redlock.RedlockLockStore;
import io.github.lockspring.store.memory.MemoryLockStore;
import io.github.lockspring.zookeeper.ZooKeeperStoreSettings;
import org.apache.zookeeper.ZooDefs;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each property arrives at the setting that it is for. All are set at once, to values
 * that differ from their defaults and from each other, so none can be left out or mixed
 * up with another.
 */
class PropertyWiringTests {

	private static final Map<String, Wiring> WIRINGS = new TreeMap<>();

	static {
		engine("ttl", "41s", Duration.ofSeconds(41), EngineSettings::ttl);
		engine("wait-time", "42s", Duration.ofSeconds(42), EngineSettings::waitTime);
		engine("max-hold", "43s", Duration.ofSeconds(43), EngineSettings::maxHold);
		engine("async-release", "true", true, EngineSettings::asyncRelease);
		engine("shutdown.timeout", "46s", Duration.ofSeconds(46), EngineSettings::shutdownTimeout);
		everyStore("key-prefix", "other:", "other:", "keyPrefix");
		everyStore("redis.command-timeout", "4s", Duration.ofSeconds(4), "commandTimeout");
		everyStore("redis.connect-timeout", "53s", Duration.ofSeconds(53), "connectTimeout");
		bound("redis.notifications", "false", false, (properties) -> properties.redis().notifications());
		redis("redis.replica-acks", "7", 7, "replicaAcks");
		bound("redis.replica-ack-timeout", "48ms", Duration.ofMillis(48),
				(properties) -> properties.redis().replicaAckTimeout());
		bound("redlock.node-timeout", "49ms", Duration.ofMillis(49),
				(properties) -> properties.redlock().nodeTimeout());
		bound("redlock.clock-drift", "0.06", 0.06, (properties) -> properties.redlock().clockDrift());
		redlock("redlock.longest-ttl", "51s", Duration.ofSeconds(51), "maxTtl");
		redlock("redlock.durable", "true", true, "durable");
		// RedlockLockStoreAutoConfigurationTests uses the nodes
		bound("redlock.nodes", "redis://a:1,redis://b:2,redis://c:3", 3,
				(properties) -> properties.redlock().addresses().size());
		jdbc("jdbc.table", "other_lease", "other_lease", "table");
		jdbc("jdbc.connections", "54", 54, "connections");
		jdbc("jdbc.connect-timeout", "55s", Duration.ofSeconds(55), "connectTimeout");
		jdbc("jdbc.purge-after", "31d", Duration.ofDays(31), "purgeAfter");
		bound("jdbc.command-timeout", "56ms", Duration.ofMillis(56),
				(properties) -> properties.jdbc().commandTimeout());
		bound("jdbc.initialize-schema", "never", DistributedLockProperties.InitializeSchema.NEVER,
				(properties) -> properties.jdbc().initializeSchema());
		zookeeper("zookeeper.session-timeout", "57s", Duration.ofSeconds(57), ZooKeeperStoreSettings::sessionTimeout);
		zookeeper("zookeeper.connect-timeout", "58s", Duration.ofSeconds(58), ZooKeeperStoreSettings::connectTimeout);
		zookeeper("zookeeper.root", "/other", "/other", ZooKeeperStoreSettings::root);
		zookeeper("zookeeper.acl", "creator", ZooDefs.Ids.CREATOR_ALL_ACL, ZooKeeperStoreSettings::acl);
		bound("zookeeper.command-timeout", "59ms", Duration.ofMillis(59),
				(properties) -> properties.zookeeper().commandTimeout());
		// ZooKeeperLockStoreAutoConfigurationTests use these two
		bound("zookeeper.connect-string", "zoo:1", "zoo:1", (properties) -> properties.zookeeper().connectString());
		bound("zookeeper.auth", "digest:me:secret", "digest:me:secret", (properties) -> properties.zookeeper().auth());
		etcd("etcd.root", "others", "others", EtcdStoreSettings::root);
		etcd("etcd.command-timeout", "61ms", Duration.ofMillis(61), EtcdStoreSettings::commandTimeout);
		etcd("etcd.connect-timeout", "27s", Duration.ofSeconds(27), EtcdStoreSettings::connectTimeout);
		// EtcdLockStoreAutoConfigurationTests use these
		bound("etcd.endpoints", "https://a:1,https://b:2", List.of("https://a:1", "https://b:2"),
				(properties) -> properties.etcd().endpoints());
		bound("etcd.username", "me", "me", (properties) -> properties.etcd().username());
		bound("etcd.password", "secret", "secret", (properties) -> properties.etcd().password());
		bound("etcd.ssl.bundle", "mine", "mine", (properties) -> properties.etcd().ssl().bundle());
		// LockObservationTests use these two
		bound("observation.enabled", "true", true, (properties) -> properties.observation().enabled());
		bound("observation.include-key", "true", true, (properties) -> properties.observation().includeKey());
		context("enabled", "false", true, (context) -> context.getBeansOfType(LockInterceptor.class).isEmpty());
		context("store", "memory", true, (context) -> context.getBeansOfType(MemoryLockStore.class).size() == 1);
		context("order", "47", 47, (context) -> context.getBean(LockOperationSourceAdvisor.class).getOrder());
		context("transaction.release-after-completion", "false", true,
				(context) -> context.getBeansOfType(UnitOfWork.class).isEmpty());
		context("transaction.verify-before-commit", "remote", Verification.REMOTE,
				(context) -> guard(context).verification());
		context("transaction.min-remaining", "52ms", Duration.ofMillis(52), (context) -> guard(context).minRemaining());
		context("fencing.table", "other_fence", "other_fence",
				(context) -> field(field(context.getBean(JdbcFencingGuard.class), "table"), "name"));
		context("fencing.initialize-schema", "never", DistributedLockProperties.InitializeSchema.NEVER,
				(context) -> field(context.getBean("lockspringFenceTableInitializer"), "mode"));
	}

	@Test
	void eachPropertyIsTested() {
		assertThat(WIRINGS.keySet().stream().map((name) -> "distributed-lock." + name))
			.as("add a new property to this test: say at which setting it arrives")
			.containsExactlyInAnyOrderElementsOf(ConfigurationMetadataTests.names().toList());
	}

	@ParameterizedTest
	@MethodSource("names")
	void propertyArrivesAtItsSetting(String name) {
		Wiring wiring = Objects.requireNonNull(WIRINGS.get(name));
		assertThat(wiring.setting.apply(name)).isEqualTo(wiring.expected);
	}

	@Test
	void commandTimeoutArrivesAtTheEngineToo() {
		EngineSettings engine = settings(LockAutoConfiguration.Engine.class, all());
		assertThat(engine.commandTimeout()).isEqualTo(Duration.ofSeconds(4));
	}

	static Iterable<String> names() {
		return WIRINGS.keySet();
	}

	private static void engine(String name, String value, Object expected, Function<EngineSettings, Object> setting) {
		bound(name, value, expected,
				(properties) -> setting.apply(settings(LockAutoConfiguration.Engine.class, properties)));
	}

	private static void redis(String name, String value, Object expected, String option) {
		bound(name, value, expected, (properties) -> field(redis(properties), option));
	}

	private static RedisLockStore.Builder redis(DistributedLockProperties properties) {
		return RedisLockStoreAutoConfiguration.configure(RedisLockStore.builder(new JedisConnectionFactory()),
				properties);
	}

	private static void redlock(String name, String value, Object expected, String option) {
		bound(name, value, expected, (properties) -> field(redlock(properties), option));
	}

	private static RedlockLockStore.Builder redlock(DistributedLockProperties properties) {
		return RedlockLockStoreAutoConfiguration.configure(RedlockLockStore.builder(List.of()), properties);
	}

	private static void jdbc(String name, String value, Object expected, String option) {
		bound(name, value, expected, (properties) -> field(JdbcLockStoreAutoConfiguration
			.configure(JdbcLockStore.builder(new DriverManagerDataSource()), properties), option));
	}

	private static void zookeeper(String name, String value, Object expected,
			Function<ZooKeeperStoreSettings, Object> setting) {
		bound(name, value, expected,
				(properties) -> setting.apply(settings(ZooKeeperLockStoreAutoConfiguration.class, properties)));
	}

	private static void etcd(String name, String value, Object expected, Function<EtcdStoreSettings, Object> setting) {
		bound(name, value, expected,
				(properties) -> setting.apply(settings(EtcdLockStoreAutoConfiguration.class, properties)));
	}

	private static void everyStore(String name, String value, Object expected, String option) {
		bound(name, value, expected, (properties) -> {
			assertThat(field(redlock(properties), option)).isEqualTo(expected);
			return field(redis(properties), option);
		});
	}

	private static void bound(String name, String value, Object expected,
			Function<DistributedLockProperties, Object> setting) {
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

	private static CommitGuard.Settings guard(AssertableApplicationContext context) {
		Object guard = field(context.getBean(TransactionListenerRegistrar.class), "guard");
		return (CommitGuard.Settings) ((Supplier<?>) field(guard, "settings")).get();
	}

	private static Object field(Object owner, String name) {
		return Objects.requireNonNull(ReflectionTestUtils.getField(owner, name));
	}

	private static <S> S settings(Class<?> configuration, DistributedLockProperties properties) {
		return Objects.requireNonNull(ReflectionTestUtils.invokeMethod(configuration, "settings", properties));
	}

	private record Wiring(String value, Object expected, Function<String, @Nullable Object> setting) {
	}

}
