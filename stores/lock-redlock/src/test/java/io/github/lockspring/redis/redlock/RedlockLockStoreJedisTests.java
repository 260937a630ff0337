package io.github.lockspring.redis.redlock;

import io.github.lockspring.redis.Driver;
import org.junit.jupiter.api.Tag;

@Tag("contracts")
class RedlockLockStoreJedisTests extends AbstractRedlockLockStoreTests {

	@Override
	Driver driver() {
		return Driver.JEDIS;
	}

}
