package io.github.lockspring.redis;

import org.junit.jupiter.api.Tag;

@Tag("contracts")
class RedisLockStoreReplicaAcksLettuceTests extends AbstractReplicaAcksLockStoreTests {

	@Override
	Driver driver() {
		return Driver.LETTUCE;
	}

}
