package io.github.lockspring.redis;

import java.time.Duration;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.store.AbstractLockTemplateTests;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;

/**
 * The contract of locks, on a server.
 */
class RedisLockTemplateTests {

	@Nested
	class OverLettuce extends Contract {

		OverLettuce() {
			super(Driver.LETTUCE);
		}

	}

	@Nested
	class OverJedis extends Contract {

		OverJedis() {
			super(Driver.JEDIS);
		}

	}

	abstract static class Contract extends AbstractLockTemplateTests {

		private final RedisServer server = RedisServer.shared();

		private final Driver driver;

		Contract(Driver driver) {
			this.driver = driver;
		}

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

}
