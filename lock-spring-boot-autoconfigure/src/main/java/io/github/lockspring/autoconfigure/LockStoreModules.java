package io.github.lockspring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * The stores on the class path.
 */
final class LockStoreModules {

	static final String REDIS_STORE = "io.github.lockspring.redis.RedisLockStore";

	static final String ZOOKEEPER_STORE = "io.github.lockspring.zookeeper.ZooKeeperLockStore";

	static final String ETCD_STORE = "io.github.lockspring.etcd.EtcdLockStore";

	static final String JDBC_STORE = "io.github.lockspring.jdbc.JdbcLockStore";

	private LockStoreModules() {
	}

	/**
	 * Returns the stores that an application may get without naming one.
	 */
	static List<Store> present(@Nullable ClassLoader classLoader) {
		List<Store> stores = new ArrayList<>();
		addIfPresent(Store.REDIS, REDIS_STORE, stores, classLoader);
		addIfPresent(Store.ZOOKEEPER, ZOOKEEPER_STORE, stores, classLoader);
		addIfPresent(Store.ETCD, ETCD_STORE, stores, classLoader);
		addIfPresent(Store.JDBC, JDBC_STORE, stores, classLoader);
		return stores;
	}

	private static void addIfPresent(Store store, String type, List<Store> stores, @Nullable ClassLoader classLoader) {
		if (ClassUtils.isPresent(type, classLoader)) {
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
