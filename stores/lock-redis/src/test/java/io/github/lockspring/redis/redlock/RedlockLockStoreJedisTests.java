package io.github.lockspring.redis.redlock;

import io.github.lockspring.redis.Driver;

class RedlockLockStoreJedisTests extends AbstractRedlockLockStoreTests {

	@Override
	Driver driver() {
		return Driver.JEDIS;
	}

}
