package io.github.lockspring.redis;

class RedisLockStoreSentinelJedisTests extends AbstractSentinelLockStoreTests {

	@Override
	Driver driver() {
		return Driver.JEDIS;
	}

}
