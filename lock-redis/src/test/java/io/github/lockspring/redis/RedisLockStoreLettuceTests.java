package io.github.lockspring.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class RedisLockStoreLettuceTests extends AbstractRedisLockStoreTests {

	@Override
	RedisConnectionFactory applicationFactory() {
		return new LettuceConnectionFactory(new RedisStandaloneConfiguration(server.host(), server.port()));
	}

}
