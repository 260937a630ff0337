package io.github.lockspring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * The stores on the class path.
 * <p>
 * The module of the JDBC store also has the fencing guard and therefore comes with the
 * starter for Redis too. Beside another store, it and those of ZooKeeper and etcd count
 * only if their own starter is there too, which has a file for this purpose.
 */
final class LockStoreModules {

	static final String REDIS_STORE = "io.github.lockspring.redis.RedisLockStore";

	static final String ZOOKEEPER_STORE = "io.github.lockspring.zookeeper.ZooKeeperLockStore";

	static final String ETCD_STORE = "io.github.lockspring.etcd.EtcdLockStore";

	static final String JDBC_STORE = "io.github.lockspring.jdbc.JdbcLockStore";

	/** In lock-spring-boot-starter-jdbc and others. */
	private static final String STARTER = "META-INF/lockspring/starter-";

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
		addIfChosen(Store.ZOOKEEPER, ZOOKEEPER_STORE, stores, loader);
		addIfChosen(Store.ETCD, ETCD_STORE, stores, loader);
		addIfChosen(Store.JDBC, JDBC_STORE, stores, loader);
		return stores;
	}

	private static void addIfChosen(Store store, String type, List<Store> stores, @Nullable ClassLoader loader) {
		boolean starter = loader != null && loader.getResource(STARTER + store.name().toLowerCase(Locale.ROOT)) != null;
		if (ClassUtils.isPresent(type, loader) && (stores.isEmpty() || starter)) {
			stores.add(store);
		}
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
