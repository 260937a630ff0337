package io.github.lockspring.redis;

import java.util.List;

import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.Tag;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The contract of stores on a cluster, over Jedis.
 */
@Tag("contracts")
class RedisLockStoreClusterJedisTests extends AbstractRedisLockStoreTests {

	@Override
	List<RedisServer> servers() {
		return RedisCluster.shared().masters();
	}

	@Override
	Driver driver() {
		return Driver.JEDIS;
	}

	@Override
	RedisConnectionFactory applicationFactory() {
		return driver().clusterFactory(RedisCluster.shared());
	}

	// a node knows its own only
	@Override
	protected boolean knowsSubscribers() {
		return false;
	}

}
