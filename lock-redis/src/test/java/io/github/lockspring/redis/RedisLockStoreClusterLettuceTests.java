package io.github.lockspring.redis;

import java.util.List;

import io.github.lockspring.testsupport.RedisCluster;
import io.github.lockspring.testsupport.RedisServer;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The contract of stores on a cluster, over Lettuce.
 */
class RedisLockStoreClusterLettuceTests extends AbstractRedisLockStoreTests {

	@Override
	List<RedisServer> servers() {
		return RedisCluster.shared().masters();
	}

	@Override
	RedisConnectionFactory applicationFactory() {
		return Driver.LETTUCE.clusterFactory(RedisCluster.shared());
	}

	// a node knows its own only
	@Override
	protected boolean knowsSubscribers() {
		return false;
	}

}
