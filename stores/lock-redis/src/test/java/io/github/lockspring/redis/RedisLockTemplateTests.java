package io.github.lockspring.redis;

import java.time.Duration;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.store.AbstractLockTemplateTests;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contract of locks, on a server.
 */
@ParameterizedClass
@EnumSource
class RedisLockTemplateTests extends AbstractLockTemplateTests {

	private final RedisServer server = RedisServer.shared();

	@Parameter
	Driver driver;

	@BeforeEach
	void flush() {
		this.server.flushAll();
	}

	@Override
	protected LockStore createStore() {
		return this.driver.store(this.server.port(), Duration.ofSeconds(5));
	}

	@Override
	protected int leftovers() {
		return (int) this.server.keys().stream().filter((left) -> !left.endsWith("}:fence:lock:")).count();
	}

}
