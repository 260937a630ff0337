package io.github.lockspring.benchmarks.adapter;

import java.util.function.BiFunction;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson with its defaults: {@code lock()} without a lease time, so its watchdog renews
 * it.
 */
final class RedissonAdapter implements LockAdapter {

	static final String PREFIX = "redisson:";

	private final RedissonClient client;

	private final BiFunction<RedissonClient, String, RLock> locks;

	private RedissonAdapter(Servers servers, BiFunction<RedissonClient, String, RLock> locks) {
		Config config = new Config();
		config.setLockWatchdogTimeout(servers.ttl().toMillis());
		config.useSingleServer().setAddress("redis://" + Servers.HOST + ":" + servers.redisPort());
		this.client = Redisson.create(config);
		this.locks = locks;
	}

	static LockAdapter plain(Servers servers) {
		return new RedissonAdapter(servers, (client, key) -> client.getLock(PREFIX + key));
	}

	static LockAdapter spin(Servers servers) {
		return new RedissonAdapter(servers, (client, key) -> client.getSpinLock("redisson-spin:" + key));
	}

	static LockAdapter fair(Servers servers) {
		return new RedissonAdapter(servers, (client, key) -> client.getFairLock("redisson-fair:" + key));
	}

	@Override
	public void runLocked(String key, Runnable section) {
		RLock lock = this.locks.apply(this.client, key);
		lock.lock();
		try {
			section.run();
		}
		finally {
			lock.unlock();
		}
	}

	@Override
	public Hold hold(String key) {
		RLock lock = this.locks.apply(this.client, key);
		lock.lock();
		return lock::unlock;
	}

	@Override
	public void close() {
		this.client.shutdown();
	}

}
