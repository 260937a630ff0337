package io.github.lockspring.redis;

class RedisLockStoreReplicaAcksLettuceTests extends AbstractReplicaAcksLockStoreTests {

	@Override
	Driver driver() {
		return Driver.LETTUCE;
	}

}
