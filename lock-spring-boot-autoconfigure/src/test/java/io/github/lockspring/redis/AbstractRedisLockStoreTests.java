package io.github.lockspring.redis;

import java.time.Duration;

import io.github.lockspring.store.AbstractLockStoreTests;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.RedisServer;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The contract of stores, on a real server.
 */
abstract class AbstractRedisLockStoreTests extends AbstractLockStoreTests {

	static final RedisServer server = RedisServer.shared();

	@BeforeEach
	void flush() {
		server.flushAll();
	}

	@Override
	protected LockStore createStore() {
		return RedisLockStore.create(applicationFactory(),
				new RedisStoreSettings("lock:", Duration.ofSeconds(5), true));
	}

	abstract RedisConnectionFactory applicationFactory();

	@Override
	protected void loseEverything() {
		server.flushAll();
	}

	@Override
	protected long remainingMillis(String key) {
		return server.pttl("lock:" + key);
	}

	@Override
	protected int leftovers() {
		for (String left : server.keys()) {
			if (server.pttl(left) < 0) {
				throw new AssertionError(left + " has no TTL");
			}
		}
		return (int) server.keys().stream().filter((left) -> !left.endsWith(":fence")).count();
	}

}
