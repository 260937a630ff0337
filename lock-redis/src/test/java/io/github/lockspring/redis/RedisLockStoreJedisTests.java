package io.github.lockspring.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

class RedisLockStoreJedisTests extends AbstractRedisLockStoreTests {

	@Override
	RedisConnectionFactory applicationFactory() {
		return new JedisConnectionFactory(new RedisStandaloneConfiguration(server.host(), server.port()));
	}

}
