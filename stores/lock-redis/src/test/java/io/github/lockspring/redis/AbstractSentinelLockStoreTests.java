package io.github.lockspring.redis;

import java.util.List;

import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.SentinelGroup;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The contract of stores behind Sentinel.
 */
abstract class AbstractSentinelLockStoreTests extends AbstractRedisLockStoreTests {

	static SentinelGroup group() {
		return SentinelGroup.shared();
	}

	@Override
	List<RedisServer> servers() {
		return List.of(group().master());
	}

	@Override
	RedisConnectionFactory applicationFactory() {
		return driver().factory(Driver.sentinels(group()));
	}

}
