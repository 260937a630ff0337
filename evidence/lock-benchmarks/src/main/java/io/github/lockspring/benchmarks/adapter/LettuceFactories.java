package io.github.lockspring.benchmarks.adapter;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Makes what an application's {@code redisConnectionFactory} is by default. Each adapter
 * has one of its own, with threads of its own, as if it were alone.
 */
final class LettuceFactories {

	private LettuceFactories() {
	}

	static LettuceConnectionFactory create(Servers servers) {
		return new LettuceConnectionFactory(new RedisStandaloneConfiguration(Servers.HOST, servers.redisPort()));
	}

	static LettuceConnectionFactory started(Servers servers) {
		LettuceConnectionFactory factory = create(servers);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

}
