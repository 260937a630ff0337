package io.github.lockspring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import io.github.lockspring.store.LockStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.util.StringUtils;

/**
 * Explains why an application that uses locks has no {@link LockStore}, and how to get
 * one.
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
		return missing("distributed-lock.store=%s needs the module lock-%s, which is not on the class path"
			.formatted(name(store), name(store)), "Add the dependency " + starter(store) + ".");
	}

	private LockConfigurationException notConfigured(Store store) {
		String configuration = ((store == Store.ZOOKEEPER) ? "ZooKeeper" : StringUtils.capitalize(name(store)))
				+ "LockStoreAutoConfiguration";
		List<String> conditions = new ArrayList<>();
		ConditionEvaluationReport.get(this.beanFactory)
			.getConditionAndOutcomesBySource()
			.forEach((source, outcomes) -> {
				if (source.split("#")[0].endsWith("." + configuration)) {
					outcomes.stream()
						.filter((condition) -> !condition.getOutcome().isMatch())
						.forEach((condition) -> conditions.add(condition.getOutcome().getMessage()));
				}
			});
		if (conditions.isEmpty()) {
			return missing("the auto-configuration " + configuration + " is excluded", "Do not exclude it.");
		}
		String needs = switch (store) {
			case REDIS ->
				"It needs a RedisConnectionFactory bean, as DataRedisAutoConfiguration defines it; of several,"
						+ " one with @Primary, or a LockStore bean made with RedisLockStore.builder. ";
			case JDBC -> "It needs a DataSource bean: set spring.datasource.url, and add the driver of the database. ";
			default -> "";
		};
		return missing(configuration + " does not match: " + String.join("; ", conditions),
				"Add what it asks for. " + needs + "The dependency " + starter(store) + " brings all classes.");
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
