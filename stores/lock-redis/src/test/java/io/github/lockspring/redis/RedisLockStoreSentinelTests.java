package io.github.lockspring.redis;

import java.util.List;

import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.SentinelGroup;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contract of stores behind Sentinel.
 */
@Tag("contracts")
@ParameterizedClass
@EnumSource
class RedisLockStoreSentinelTests extends AbstractRedisLockStoreTests {

	@Override
	List<RedisServer> servers() {
		return List.of(SentinelGroup.shared().master());
	}

	@Override
	RedisConnectionFactory applicationFactory() {
		return this.driver.factory(Driver.sentinels(SentinelGroup.shared()));
	}

}
