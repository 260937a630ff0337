package io.github.lockspring.redis;

class RedlockLockStoreLettuceTests extends AbstractRedlockLockStoreTests {

	@Override
	Driver driver() {
		return Driver.LETTUCE;
	}

}
