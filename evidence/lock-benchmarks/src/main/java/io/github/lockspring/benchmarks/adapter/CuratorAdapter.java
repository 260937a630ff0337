package io.github.lockspring.benchmarks.adapter;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Curator's mutex on ZooKeeper: one client for the process, and one mutex for each key,
 * which all threads share or each thread has for itself, both used again and again. A
 * release wakes all threads that wait for a shared one. The lock is a session's, so there
 * is no lease to renew.
 */
final class CuratorAdapter implements LockAdapter {

	private final CuratorFramework client;

	private final Supplier<Map<String, InterProcessMutex>> mutexes;

	private CuratorAdapter(Servers servers, Supplier<Map<String, InterProcessMutex>> mutexes) {
		this.mutexes = mutexes;
		this.client = CuratorFrameworkFactory.newClient(servers.zooKeeper(), new ExponentialBackoffRetry(1000, 3));
		this.client.start();
	}

	static LockAdapter shared(Servers servers) {
		Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();
		return new CuratorAdapter(servers, () -> mutexes);
	}

	static LockAdapter own(Servers servers) {
		return new CuratorAdapter(servers, ThreadLocal.<Map<String, InterProcessMutex>>withInitial(HashMap::new)::get);
	}

	@Override
	public void runLocked(String key, Runnable section) throws Exception {
		InterProcessMutex mutex = this.mutexes.get()
			.computeIfAbsent(key, (name) -> new InterProcessMutex(this.client, "/locks/" + name.replace('/', '-')));
		mutex.acquire();
		try {
			section.run();
		}
		finally {
			mutex.release();
		}
	}

	@Override
	public void close() {
		this.client.close();
	}

}
