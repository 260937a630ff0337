package io.github.lockspring.redis.redlock;

import io.github.lockspring.redis.Driver;

class RedlockLockStoreLettuceTests extends AbstractRedlockLockStoreTests {

	@Override
	Driver driver() {
		return Driver.LETTUCE;
	}

}
