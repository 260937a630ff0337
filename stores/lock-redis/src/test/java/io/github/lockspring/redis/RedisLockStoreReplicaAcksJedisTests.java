package io.github.lockspring.redis;

import org.junit.jupiter.api.Tag;

@Tag("contracts")
class RedisLockStoreReplicaAcksJedisTests extends AbstractReplicaAcksLockStoreTests {

	@Override
	Driver driver() {
		return Driver.JEDIS;
	}

}
