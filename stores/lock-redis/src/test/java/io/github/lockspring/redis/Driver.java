package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.redis.SentinelGroup;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The drivers that tests run with, each with its own defaults.
 */
public enum Driver {

	LETTUCE, JEDIS;

	public RedisConnectionFactory factory(RedisConfiguration where) {
		if (this == LETTUCE) {
			return new LettuceConnectionFactory(where);
		}
		if (where instanceof RedisSentinelConfiguration sentinels) {
			return new JedisConnectionFactory(sentinels);
		}
		return (where instanceof RedisClusterConfiguration cluster) ? new JedisConnectionFactory(cluster)
				: new JedisConnectionFactory((RedisStandaloneConfiguration) where);
	}

	public RedisConnectionFactory factory(int port) {
		return factory(new RedisStandaloneConfiguration("127.0.0.1", port));
	}

	public RedisConnectionFactory clusterFactory(RedisCluster cluster) {
		return factory(new RedisClusterConfiguration(cluster.addresses()));
	}

	/** Where clients find the sentinels of a group. */
	public static RedisSentinelConfiguration sentinels(SentinelGroup group) {
		RedisSentinelConfiguration configuration = new RedisSentinelConfiguration(SentinelGroup.NAME,
				group.addresses());
		configuration.setPassword(group.password());
		configuration.setSentinelPassword(group.sentinelPassword());
		return configuration;
	}

	/** Independent servers of this machine. */
	public List<RedisConnectionFactory> redlockNodes(int... ports) {
		return IntStream.of(ports).mapToObj(this::factory).toList();
	}

	RedisLockStore store(int port, Duration commandTimeout) {
		return StoreFixture.store(factory(port), commandTimeout);
	}

}
