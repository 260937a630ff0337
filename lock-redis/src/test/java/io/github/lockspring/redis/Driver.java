package io.github.lockspring.redis;

import java.util.List;
import java.util.stream.IntStream;

import io.github.lockspring.redis.redlock.RedlockNode;
import io.github.lockspring.testsupport.RedisCluster;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The drivers that tests run with.
 */
public enum Driver {

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

	public RedisConnectionFactory factory(int port) {
		return factory(new RedisStandaloneConfiguration("127.0.0.1", port));
	}

	/**
	 * Independent servers of this machine.
	 */
	public List<RedlockNode> redlockNodes(int... ports) {
		return IntStream.of(ports).mapToObj((port) -> new RedlockNode("127.0.0.1:" + port, factory(port))).toList();
	}

	RedisLockStore store(int port, RedisStoreSettings settings) {
		return RedisLockStore.create(factory(port), settings);
	}

}
