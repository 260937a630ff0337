package io.github.lockspring.redis;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contract of stores on a cluster, over Jedis.
 */
@Tag("contracts")
@ParameterizedClass
@EnumSource(names = "JEDIS")
class RedisLockStoreClusterJedisTests extends RedisLockStoreClusterLettuceTests {

}
