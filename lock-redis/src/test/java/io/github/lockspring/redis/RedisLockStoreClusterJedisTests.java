package io.github.lockspring.redis;

import java.util.List;

import io.github.lockspring.testsupport.RedisCluster;
import io.github.lockspring.testsupport.RedisServer;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The contract of stores on a cluster, over Jedis.
 */
class RedisLockStoreClusterJedisTests extends AbstractRedisLockStoreTests {

	@Override
	List<RedisServer> servers() {
		return RedisCluster.shared().masters();
	}

	@Override
	RedisConnectionFactory applicationFactory() {
		return Driver.JEDIS.clusterFactory(RedisCluster.shared());
	}

	// a node knows its own only
	@Override
	protected boolean knowsSubscribers() {
		return false;
	}

}
