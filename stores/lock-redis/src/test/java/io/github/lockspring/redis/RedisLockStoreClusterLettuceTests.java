package io.github.lockspring.redis;

import java.util.List;

import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The contract of stores on a cluster, over Lettuce.
 */
@ParameterizedClass
@EnumSource(names = "LETTUCE")
class RedisLockStoreClusterLettuceTests extends AbstractRedisLockStoreTests {

	@Override
	List<RedisServer> servers() {
		return RedisCluster.shared().masters();
	}

	@Override
	RedisConnectionFactory applicationFactory() {
		return this.driver.clusterFactory(RedisCluster.shared());
	}

	// a node knows its own only
	@Override
	protected boolean knowsSubscribers() {
		return false;
	}

}
