package io.github.lockspring.redis;

class RedisLockStoreLettuceTests extends AbstractRedisLockStoreTests {

	@Override
	Driver driver() {
		return Driver.LETTUCE;
	}

}
