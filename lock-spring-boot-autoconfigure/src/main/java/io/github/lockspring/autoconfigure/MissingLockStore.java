package io.github.lockspring.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import io.github.lockspring.store.LockStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * Explains why an application that uses locks has no {@link LockStore}, and how to get
 * one.
 */
final class MissingLockStore {

	private static final String SPRING_BOOT_JDBC = "org.springframework.boot.jdbc.DataSourceBuilder";

	private static final String HIKARI = "com.zaxxer.hikari.HikariDataSource";

	private static final String CONNECTION_FACTORY = "org.springframework.data.redis.connection.RedisConnectionFactory";

	private static final String OTHER_WAYS = " Or choose distributed-lock.store=memory, for tests and applications with one"
			+ " instance; or define a LockStore bean; or switch locks off with distributed-lock.enabled=false.";

	private MissingLockStore() {
	}

	/**
	 * Creates the exception with what is missing, and its remedy.
	 * @param beanFactory the bean factory that has no {@link LockStore}
	 * @param store the store that the properties select, or null
	 * @return the exception to throw
	 */
	static LockConfigurationException explain(ConfigurableListableBeanFactory beanFactory,
			DistributedLockProperties.@Nullable Store store) {
		ClassLoader classLoader = beanFactory.getBeanClassLoader();
		return LockStoreModules.select(store, classLoader).map((selected) -> switch (selected) {
			case MEMORY -> leftOut("LockAutoConfiguration");
			case JDBC -> withModule(selected, LockStoreModules.JDBC_STORE, "jdbc", classLoader,
					() -> withoutJdbc(beanFactory, classLoader));
			case ZOOKEEPER -> withModule(selected, LockStoreModules.ZOOKEEPER_STORE, "zookeeper", classLoader,
					() -> leftOut("ZooKeeperLockStoreAutoConfiguration"));
			case ETCD -> withModule(selected, LockStoreModules.ETCD_STORE, "etcd", classLoader,
					() -> leftOut("EtcdLockStoreAutoConfiguration"));
			case REDIS, REDLOCK -> withModule(selected, LockStoreModules.REDIS_STORE, "redis", classLoader,
					() -> withoutRedis(beanFactory, selected, classLoader));
		}).orElseGet(() -> undecided(LockStoreModules.present(classLoader)));
	}

	private static LockConfigurationException undecided(List<DistributedLockProperties.Store> stores) {
		if (stores.isEmpty()) {
			return missing("there is no module of a store on the class path",
					"Add the dependency io.github.lockspring:lock-spring-boot-starter, for Redis, or"
							+ " io.github.lockspring:lock-spring-boot-starter-jdbc, for a database, or"
							+ " io.github.lockspring:lock-spring-boot-starter-zookeeper, or"
							+ " io.github.lockspring:lock-spring-boot-starter-etcd.");
		}
		String names = stores.stream()
			.map((store) -> store.name().toLowerCase(Locale.ROOT))
			.collect(Collectors.joining(", "));
		return missing(
				"there are several stores on the class path (" + names + "), and distributed-lock.store chooses none",
				"Set distributed-lock.store to one of them, the same in all instances, or remove the starter of the"
						+ " others.");
	}

	private static LockConfigurationException withoutJdbc(ConfigurableListableBeanFactory beanFactory,
			@Nullable ClassLoader classLoader) {
		if (!ClassUtils.isPresent(SPRING_BOOT_JDBC, classLoader) || !ClassUtils.isPresent(HIKARI, classLoader)) {
			return missing("Spring Boot's JDBC support or HikariCP is not on the class path",
					"Add the dependency org.springframework.boot:spring-boot-starter-jdbc.");
		}
		if (BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, DataSource.class, true,
				false).length == 0) {
			return missing("there is no DataSource bean",
					"Set spring.datasource.url, and add the driver of the database or an embedded database such as H2.");
		}
		return leftOut("JdbcLockStoreAutoConfiguration");
	}

	private static LockConfigurationException withModule(DistributedLockProperties.Store store, String type,
			String module, @Nullable ClassLoader classLoader, Supplier<LockConfigurationException> otherwise) {
		if (ClassUtils.isPresent(type, classLoader)) {
			return otherwise.get();
		}
		return missing(
				"distributed-lock.store=%s needs the module lock-%s, which is not on the class path"
					.formatted(store.name().toLowerCase(Locale.ROOT), module),
				"Add the dependency io.github.lockspring:lock-spring-boot-starter%s."
					.formatted(module.equals("redis") ? "" : "-" + module));
	}

	private static LockConfigurationException withoutRedis(ConfigurableListableBeanFactory beanFactory,
			DistributedLockProperties.Store store, @Nullable ClassLoader classLoader) {
		if (!ClassUtils.isPresent(CONNECTION_FACTORY, classLoader)) {
			return missing("Spring Data Redis is not on the class path",
					"Add the dependency org.springframework.boot:spring-boot-starter-data-redis.");
		}
		if (store == DistributedLockProperties.Store.REDLOCK) {
			return leftOut("RedlockLockStoreAutoConfiguration");
		}
		return withoutConnectionFactory(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory,
				ClassUtils.resolveClassName(CONNECTION_FACTORY, classLoader), true, false));
	}

	private static LockConfigurationException withoutConnectionFactory(String[] factories) {
		if (factories.length == 0) {
			return missing("there is no RedisConnectionFactory bean",
					"Define one, or let DataRedisAutoConfiguration do it, which needs Lettuce or Jedis on the class path.");
		}
		if (factories.length > 1) {
			return missing(
					"there are several RedisConnectionFactory beans and none of them is primary: "
							+ String.join(", ", Arrays.stream(factories).sorted().toList()),
					"Mark the one for the locks with @Primary, or define a LockStore bean with RedisLockStore.builder.");
		}
		return leftOut("RedisLockStoreAutoConfiguration");
	}

	private static LockConfigurationException leftOut(String autoConfiguration) {
		return missing("the auto-configuration " + autoConfiguration + " is excluded", "Do not exclude it.");
	}

	private static LockConfigurationException missing(String problem, String remedy) {
		return new LockConfigurationException(
				"This application uses locks, but has no store for them: " + problem + ".", remedy + OTHER_WAYS, null);
	}

}
