package io.github.lockspring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.github.lockspring.autoconfigure.properties.DistributedLockProperties.Store;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * The stores on the class path.
 * <p>
 * The module of the JDBC store also has the fencing guard and therefore comes with every
 * starter. Beside another store it counts only if its own starter is there too, which has
 * a file for this purpose.
 */
final class LockStoreModules {

	static final String REDIS_STORE = "io.github.lockspring.redis.RedisLockStore";

	static final String JDBC_STORE = "io.github.lockspring.jdbc.JdbcLockStore";

	/** In lock-spring-boot-starter-jdbc. */
	private static final String JDBC_STARTER = "META-INF/lockspring/starter-jdbc";

	private LockStoreModules() {
	}

	/**
	 * Returns the stores that an application may get without naming one.
	 */
	static List<Store> present(@Nullable ClassLoader classLoader) {
		ClassLoader loader = (classLoader != null) ? classLoader : ClassUtils.getDefaultClassLoader();
		List<Store> stores = new ArrayList<>();
		if (ClassUtils.isPresent(REDIS_STORE, loader)) {
			stores.add(Store.REDIS);
		}
		boolean jdbcStarter = loader != null && loader.getResource(JDBC_STARTER) != null;
		if (ClassUtils.isPresent(JDBC_STORE, loader) && (stores.isEmpty() || jdbcStarter)) {
			stores.add(Store.JDBC);
		}
		return stores;
	}

	/**
	 * Selects the store of an application.
	 * @param property the value of {@code distributed-lock.store}
	 * @return the value or, without one, the only store on the class path; empty if there
	 * is none or more than one
	 */
	static Optional<Store> select(@Nullable Store property, @Nullable ClassLoader classLoader) {
		if (property != null) {
			return Optional.of(property);
		}
		List<Store> stores = present(classLoader);
		return (stores.size() == 1) ? Optional.of(stores.get(0)) : Optional.empty();
	}

}
