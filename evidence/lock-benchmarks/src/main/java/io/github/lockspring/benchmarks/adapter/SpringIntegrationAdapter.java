package io.github.lockspring.benchmarks.adapter;

import java.util.concurrent.locks.Lock;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/**
 * Spring Integration's registry on the application's connection factory. Nothing is
 * renewed, which is its default.
 */
final class SpringIntegrationAdapter implements LockAdapter {

	private final LettuceConnectionFactory factory;

	private final RedisLockRegistry registry;

	private SpringIntegrationAdapter(Servers servers, String registryKey, RedisLockType type) {
		this.factory = LettuceFactories.started(servers);
		this.registry = new RedisLockRegistry(this.factory, registryKey, servers.ttl());
		this.registry.setRedisLockType(type);
	}

	static LockAdapter pubSub(Servers servers) {
		return new SpringIntegrationAdapter(servers, "si-pubsub", RedisLockType.PUB_SUB_LOCK);
	}

	static LockAdapter spin(Servers servers) {
		return new SpringIntegrationAdapter(servers, "si-spin", RedisLockType.SPIN_LOCK);
	}

	@Override
	public void runLocked(String key, Runnable section) {
		Lock lock = this.registry.obtain(key);
		lock.lock();
		try {
			section.run();
		}
		finally {
			lock.unlock();
		}
	}

	@Override
	public void close() {
		this.registry.destroy();
		this.factory.destroy();
	}

}
