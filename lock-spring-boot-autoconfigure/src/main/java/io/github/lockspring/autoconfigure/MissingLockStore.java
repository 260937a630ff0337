package io.github.lockspring.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import io.github.lockspring.store.LockStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.util.ClassUtils;

/**
 * Explains why an application that uses locks has no {@link LockStore}, and how to get
 * one. What happens to beginners has a text of its own; what else happens is in Spring
 * Boot's report of conditions.
 *
 * @param beanFactory the bean factory that has no store
 */
record MissingLockStore(ConfigurableListableBeanFactory beanFactory) {

	private static final String STARTER = "io.github.lockspring:lock-spring-boot-starter";

	private static final String OTHER_WAYS = " Or choose distributed-lock.store=memory, for tests and applications with one"
			+ " instance; or define a LockStore bean; or switch locks off with distributed-lock.enabled=false.";

	/**
	 * Creates the exception with what is missing, and its remedy.
	 * @param property the value of {@code distributed-lock.store}
	 */
	LockConfigurationException explain(@Nullable Store property) {
		ClassLoader classLoader = this.beanFactory.getBeanClassLoader();
		return LockStoreModules.select(property, classLoader)
			.map((store) -> LockStoreModules.isPresent(store, classLoader) ? notConfigured(store)
					: withoutModule(store))
			.orElseGet(() -> undecided(LockStoreModules.present(classLoader)));
	}

	private static LockConfigurationException undecided(List<Store> stores) {
		if (stores.isEmpty()) {
			return missing("there is no module of a store on the class path",
					"Add the dependency %1$s, for Redis, or %1$s-jdbc, for a database, or %1$s-zookeeper, or %1$s-etcd."
						.formatted(STARTER));
		}
		return missing(
				"there are several stores on the class path (%s), and distributed-lock.store chooses none"
					.formatted(stores.stream().map(MissingLockStore::name).collect(Collectors.joining(", "))),
				"Set distributed-lock.store to one of them, the same in all instances, or remove the starter of the"
						+ " others.");
	}

	private static LockConfigurationException withoutModule(Store store) {
		return missing(
				"distributed-lock.store=%s needs the module lock-%s, which is not on the class path"
					.formatted(name(store), name(store).replace("redlock", "redis")),
				"Add the dependency " + starter(store) + ".");
	}

	private LockConfigurationException notConfigured(Store store) {
		List<String> factories = beans("org.springframework.data.redis.connection.RedisConnectionFactory");
		if (store == Store.REDIS && factories != null && factories.isEmpty()) {
			return missing("there is no RedisConnectionFactory bean",
					"Define one, or let DataRedisAutoConfiguration do it, which needs Lettuce or Jedis on the class path.");
		}
		if (store == Store.REDIS && factories != null && factories.size() > 1) {
			return missing(
					"there are several RedisConnectionFactory beans and none of them is primary: "
							+ String.join(", ", factories),
					"Mark the one for the locks with @Primary, or define a LockStore bean with RedisLockStore.builder.");
		}
		if (store == Store.JDBC && List.of().equals(beans("javax.sql.DataSource"))) {
			return missing("there is no DataSource bean",
					"Set spring.datasource.url, and add the driver of the database or an embedded database such as H2.");
		}
		return notMatched(store);
	}

	/** Null if there is no such class. */
	private @Nullable List<String> beans(String type) {
		ClassLoader classLoader = this.beanFactory.getBeanClassLoader();
		return !ClassUtils.isPresent(type, classLoader) ? null : Arrays
			.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory,
					ClassUtils.resolveClassName(type, classLoader), true, false))
			.sorted()
			.toList();
	}

	private LockConfigurationException notMatched(Store store) {
		String configuration = switch (store) {
			case REDIS -> "RedisLockStoreAutoConfiguration";
			case REDLOCK -> "RedlockLockStoreAutoConfiguration";
			case JDBC -> "JdbcLockStoreAutoConfiguration";
			case ZOOKEEPER -> "ZooKeeperLockStoreAutoConfiguration";
			case ETCD -> "EtcdLockStoreAutoConfiguration";
			case MEMORY -> "LockAutoConfiguration";
		};
		String name = getClass().getPackageName() + "." + configuration;
		String conditions = ConditionEvaluationReport.get(this.beanFactory)
			.getConditionAndOutcomesBySource()
			.entrySet()
			.stream()
			.filter((entry) -> entry.getKey().split("#")[0].equals(name))
			.flatMap((entry) -> entry.getValue().stream())
			.filter((condition) -> !condition.getOutcome().isMatch())
			.map((condition) -> condition.getOutcome().getMessage())
			.collect(Collectors.joining("; "));
		return conditions.isEmpty()
				? missing("the auto-configuration " + configuration + " is excluded", "Do not exclude it.")
				: missing("the auto-configuration " + configuration + " does not match: " + conditions,
						"Add what it asks for. The dependency " + starter(store) + " brings all classes.");
	}

	private static LockConfigurationException missing(String problem, String remedy) {
		return new LockConfigurationException(
				"This application uses locks, but has no store for them: " + problem + ".", remedy + OTHER_WAYS, null);
	}

	private static String starter(Store store) {
		return STARTER + ((store == Store.REDIS || store == Store.REDLOCK) ? "" : "-" + name(store));
	}

	private static String name(Store store) {
		return store.name().toLowerCase(Locale.ROOT);
	}

}
