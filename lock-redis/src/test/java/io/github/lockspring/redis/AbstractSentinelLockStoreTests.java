package io.github.lockspring.redis;

import java.util.List;

import io.github.lockspring.testsupport.RedisServer;
import io.github.lockspring.testsupport.SentinelGroup;

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

}
