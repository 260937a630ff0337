package io.github.lockspring.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

class RedisLockStoreSentinelJedisTests extends AbstractSentinelLockStoreTests {

	@Override
	RedisConnectionFactory applicationFactory() {
		return new JedisConnectionFactory(group().configuration());
	}

}
