package io.github.lockspring.redis;

import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contract of stores on one server.
 */
@ParameterizedClass
@EnumSource
class RedisLockStoreTests extends AbstractRedisLockStoreTests {

}
