package io.github.lockspring.redis;

import io.github.lockspring.testsupport.Instance.Driver;

class RedlockLockStoreLettuceTests extends AbstractRedlockLockStoreTests {

	@Override
	Driver driver() {
		return Driver.LETTUCE;
	}

}
