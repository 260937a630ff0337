package io.github.lockspring.redis;

import org.junit.jupiter.api.Tag;

@Tag("contracts")
class RedisLockStoreSentinelJedisTests extends AbstractSentinelLockStoreTests {

	@Override
	Driver driver() {
		return Driver.JEDIS;
	}

}
