package io.github.lockspring.store.memory;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;

import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.StoredLock;

/**
 * The inspector of a {@link MemoryLockStore}. Thread-safe.
 */
final class MemoryInspector implements LockStoreInspector {

	private record Entry(InstanceInfo info, long until) {
	}

	private final Function<String, Optional<StoredLock>> locks;

	private final Predicate<StoredLock> release;

	private final Map<String, Entry> instances = new ConcurrentHashMap<>();

	MemoryInspector(Function<String, Optional<StoredLock>> locks, Predicate<StoredLock> release) {
		this.locks = locks;
		this.release = release;
	}

	@Override
	public Optional<StoredLock> find(String key, Duration timeout) {
		return this.locks.apply(key);
	}

	@Override
	public boolean forceRelease(StoredLock seen, Duration timeout) {
		return this.release.test(seen);
	}

	@Override
	public void register(String instance, InstanceInfo info, Duration ttl, Duration timeout) {
		long now = System.nanoTime();
		this.instances.values().removeIf((entry) -> entry.until() - now <= 0);
		this.instances.put(instance, new Entry(info, now + ttl.toNanos()));
	}

	@Override
	public Map<String, InstanceInfo> instances(Collection<String> instances, Duration timeout) {
		Map<String, InstanceInfo> known = new HashMap<>();
		for (String instance : instances) {
			Entry entry = this.instances.get(instance);
			if (entry != null && entry.until() - System.nanoTime() > 0) {
				known.put(instance, entry.info());
			}
		}
		return known;
	}

}
