package io.github.lockspring.redis;

import io.github.lockspring.testsupport.Instance.Driver;

class RedlockLockStoreJedisTests extends AbstractRedlockLockStoreTests {

	@Override
	Driver driver() {
		return Driver.JEDIS;
	}

}
