package io.github.lockspring.redis;

class RedisLockStoreReplicaAcksJedisTests extends AbstractReplicaAcksLockStoreTests {

	@Override
	Driver driver() {
		return Driver.JEDIS;
	}

}
