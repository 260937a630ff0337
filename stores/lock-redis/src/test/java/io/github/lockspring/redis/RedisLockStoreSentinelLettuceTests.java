package io.github.lockspring.redis;

class RedisLockStoreSentinelLettuceTests extends AbstractSentinelLockStoreTests {

	@Override
	Driver driver() {
		return Driver.LETTUCE;
	}

}
