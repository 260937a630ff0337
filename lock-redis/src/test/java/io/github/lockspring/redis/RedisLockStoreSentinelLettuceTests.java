package io.github.lockspring.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class RedisLockStoreSentinelLettuceTests extends AbstractSentinelLockStoreTests {

	@Override
	RedisConnectionFactory applicationFactory() {
		return new LettuceConnectionFactory(group().configuration());
	}

}
