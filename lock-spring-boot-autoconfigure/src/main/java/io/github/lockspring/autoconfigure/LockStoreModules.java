package io.github.lockspring.autoconfigure;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import io.github.lockspring.store.LockStore;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;

/**
 * The stores on the class path.
 */
final class LockStoreModules {

	private LockStoreModules() {
	}

	/**
	 * Whether the module of a store is there.
	 */
	static boolean isPresent(Store store, @Nullable ClassLoader classLoader) {
		return ClassUtils.isPresent(type(store), classLoader);
	}

	private static String type(Store store) {
		return "io.github.lockspring." + switch (store) {
			case REDIS -> "redis.RedisLockStore";
			case REDLOCK -> "redis.redlock.RedlockLockStore";
			case JDBC -> "jdbc.JdbcLockStore";
			case ZOOKEEPER -> "zookeeper.ZooKeeperLockStore";
			case ETCD -> "etcd.EtcdLockStore";
			case MEMORY -> "store.memory.MemoryLockStore";
		};
	}

	/**
	 * Returns which store a bean is.
	 * @return empty if it is not one of ours
	 */
	static Optional<Store> of(LockStore bean) {
		String type = AopUtils.getTargetClass(bean).getName();
		return Stream.of(Store.values()).filter((store) -> type(store).equals(type)).findFirst();
	}

	/**
	 * Returns the stores that an application may get without naming one.
	 */
	static List<Store> present(@Nullable ClassLoader classLoader) {
		return Stream.of(Store.REDIS, Store.ZOOKEEPER, Store.ETCD, Store.JDBC)
			.filter((store) -> isPresent(store, classLoader))
			.toList();
	}

	/**
	 * Selects the store of an application.
	 * @param property the value of {@code distributed-lock.store}
	 * @return the value or, without one, the only store on the class path; empty if there
	 * is none or more than one
	 */
	static Optional<Store> select(@Nullable Store property, @Nullable ClassLoader classLoader) {
		List<Store> stores = (property != null) ? List.of(property) : present(classLoader);
		return (stores.size() == 1) ? Optional.of(stores.get(0)) : Optional.empty();
	}

}
