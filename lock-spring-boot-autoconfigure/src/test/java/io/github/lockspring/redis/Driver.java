package io.github.lockspring.redis;

import io.github.lockspring.testsupport.RedisCluster;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The drivers that tests run with.
 */
enum Driver {

	LETTUCE {
		@Override
		RedisConnectionFactory factory(RedisStandaloneConfiguration configuration) {
			return new LettuceConnectionFactory(configuration);
		}

		@Override
		RedisConnectionFactory factory(RedisClusterConfiguration configuration) {
			return new LettuceConnectionFactory(configuration);
		}
	},

	JEDIS {
		@Override
		RedisConnectionFactory factory(RedisStandaloneConfiguration configuration) {
			return new JedisConnectionFactory(configuration);
		}

		@Override
		RedisConnectionFactory factory(RedisClusterConfiguration configuration) {
			return new JedisConnectionFactory(configuration);
		}
	};

	abstract RedisConnectionFactory factory(RedisStandaloneConfiguration configuration);

	abstract RedisConnectionFactory factory(RedisClusterConfiguration configuration);

	RedisConnectionFactory clusterFactory(RedisCluster cluster) {
		return factory(new RedisClusterConfiguration(cluster.addresses()));
	}

	RedisConnectionFactory factory(int port) {
		return factory(new RedisStandaloneConfiguration("127.0.0.1", port));
	}

	RedisLockStore store(int port, RedisStoreSettings settings) {
		return RedisLockStore.create(factory(port), settings);
	}

}
