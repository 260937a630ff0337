package io.github.lockspring.redis;

class RedlockLockStoreJedisTests extends AbstractRedlockLockStoreTests {

	@Override
	Driver driver() {
		return Driver.JEDIS;
	}

}
