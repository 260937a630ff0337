package io.github.lockspring.redis;

class RedisLockStoreJedisTests extends AbstractRedisLockStoreTests {

	@Override
	Driver driver() {
		return Driver.JEDIS;
	}

}
