package io.github.lockspring.benchmarks.adapter;

import java.time.Duration;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.redis.RedisLockStore;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * This project's locks with the settings of an application that sets nothing, except that
 * callers wait for longer.
 */
final class LockspringAdapter implements LockAdapter {

	static final String PREFIX = "lock:";

	private static final Duration WAIT_TIME = Duration.ofMinutes(1);

	private final Runnable closeFactory;

	private final RedisLockStore store;

	private final LockEngine engine;

	private final LockTemplate locks;

	static LockspringAdapter waiting(Servers servers) {
		return overLettuce(servers, false);
	}

	static LockspringAdapter notWaiting(Servers servers) {
		return overLettuce(servers, true);
	}

	private static LockspringAdapter overLettuce(Servers servers, boolean asyncRelease) {
		LettuceConnectionFactory factory = LettuceFactories.started(servers);
		return new LockspringAdapter(servers, factory, factory::destroy, asyncRelease);
	}

	static LockspringAdapter overJedis(Servers servers) {
		JedisConnectionFactory factory = new JedisConnectionFactory(
				new RedisStandaloneConfiguration(Servers.HOST, servers.redisPort()));
		factory.afterPropertiesSet();
		factory.start();
		return new LockspringAdapter(servers, factory, factory::destroy, false);
	}

	private LockspringAdapter(Servers servers, RedisConnectionFactory factory, Runnable closeFactory,
			boolean asyncRelease) {
		EngineSettings defaults = EngineSettings.defaults();
		EngineSettings settings = new EngineSettings(servers.ttl(), WAIT_TIME, defaults.maxHold(),
				defaults.commandTimeout(), defaults.shutdownTimeout(), asyncRelease);
		this.closeFactory = closeFactory;
		this.store = RedisLockStore.builder(factory)
			.keyPrefix(PREFIX)
			.commandTimeout(settings.commandTimeout())
			.build();
		this.engine = new LockEngine(this.store, settings, LockEvents.NOBODY);
		this.locks = this.engine.template();
	}

	@Override
	public void runLocked(String key, Runnable section) {
		this.locks.executeWithoutResult(LockRequest.of(key), (lock) -> section.run());
	}

	@Override
	public Hold hold(String key) {
		HeldLock lock = this.locks.acquire(LockRequest.of(key));
		return lock::close;
	}

	@Override
	public void close() {
		this.engine.close();
		this.store.close();
		this.closeFactory.run();
	}

}
