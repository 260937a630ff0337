package io.github.lockspring.benchmarks.adapter;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Curator's mutex on ZooKeeper: one client for the process, one mutex for each key, both
 * used again and again. The lock is a session's, so there is no lease to renew.
 */
final class CuratorAdapter implements LockAdapter {

	private final CuratorFramework client;

	private final Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();

	CuratorAdapter(Servers servers) {
		this.client = CuratorFrameworkFactory.newClient(servers.zooKeeper(), new ExponentialBackoffRetry(1000, 3));
		this.client.start();
	}

	@Override
	public void runLocked(String key, Runnable section) throws Exception {
		InterProcessMutex mutex = this.mutexes.computeIfAbsent(key,
				(name) -> new InterProcessMutex(this.client, "/locks/" + name.replace('/', '-')));
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
