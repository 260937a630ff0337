package io.github.lockspring.redis;

import java.time.Duration;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.beans.BeansException;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * Finds out from the application's connection factory where its Redis is, and makes
 * connections of our own to it.
 */
final class ConnectionDeriver {

	private static final Logger logger = LoggerFactory.getLogger(ConnectionDeriver.class);

	private static final ClassLoader LOADER = ConnectionDeriver.class.getClassLoader();

	private static final boolean LETTUCE = ClassUtils.isPresent("io.lettuce.core.RedisClient", LOADER);

	private static final boolean JEDIS = ClassUtils.isPresent("redis.clients.jedis.RedisClient", LOADER);

	private ConnectionDeriver() {
	}

	static RedisConnections derive(RedisConnectionFactory application, Duration commandTimeout) {
		RedisConnections connections = LETTUCE ? Lettuce.derive(application, commandTimeout) : null;
		if (connections == null && JEDIS) {
			connections = Jedis.derive(application, commandTimeout);
		}
		return (connections != null) ? connections : useAsItIs(application);
	}

	private static RedisConnections useAsItIs(RedisConnectionFactory application) {
		logger.warn("Locks use the connection factory " + application.getClass().getName()
				+ " as it is, since its settings are not known: while Redis does not answer, up to "
				+ WorkerConnections.WORKERS + " threads wait for as long as its own timeouts say, and commands that "
				+ "the application runs in a transaction or blocks on may delay those of locks");
		return new WorkerConnections(new AsItIs(application), RedisConnections.Topology.UNKNOWN, true);
	}

	/** Loaded only if Lettuce is there. */
	private static final class Lettuce {

		static @Nullable RedisConnections derive(RedisConnectionFactory application, Duration commandTimeout) {
			if (!(application instanceof LettuceConnectionFactory lettuce)) {
				return null;
			}
			RedisConfiguration configuration = configuration(lettuce);
			return (configuration != null) ? new LettuceConnections(
					new DerivedLettuceConfiguration(lettuce.getClientConfiguration(), configuration, commandTimeout))
					: null;
		}

		/*
		 * The factory has getters for all kinds but the static master and replicas, for
		 * which it shows the default: localhost. To take that for the truth would lock on
		 * the wrong server, so that the field itself is read.
		 */
		private static @Nullable RedisConfiguration configuration(LettuceConnectionFactory lettuce) {
			try {
				return (RedisConfiguration) new DirectFieldAccessor(lettuce).getPropertyValue("configuration");
			}
			catch (BeansException ex) {
				logger.debug("The connection factory's configuration cannot be read", ex);
			}
			RedisConfiguration known = lettuce.getClusterConfiguration();
			known = (known != null) ? known : lettuce.getSentinelConfiguration();
			return (known != null) ? known : lettuce.getSocketConfiguration();
		}

	}

	/** Loaded only if Jedis is there. */
	private static final class Jedis {

		static @Nullable RedisConnections derive(RedisConnectionFactory application, Duration commandTimeout) {
			if (!(application instanceof JedisConnectionFactory jedis)) {
				return null;
			}
			return new WorkerConnections(new JedisSource(jedis, commandTimeout), topology(jedis), true);
		}

		private static RedisConnections.Topology topology(JedisConnectionFactory jedis) {
			if (jedis.isRedisClusterAware()) {
				return RedisConnections.Topology.CLUSTER;
			}
			return jedis.isRedisSentinelAware() ? RedisConnections.Topology.SENTINEL : RedisConnections.Topology.SINGLE;
		}

	}

	private record AsItIs(RedisConnectionFactory application) implements WorkerConnections.Source {

		@Override
		public RedisConnectionFactory open(int connections) {
			return this.application;
		}

		@Override
		public DedicatedConnections dedicated(int size) {
			throw new UnsupportedOperationException("Only Lettuce and Jedis can wait for replicas");
		}

		@Override
		public void close(RedisConnectionFactory factory) {
			// the application's
		}

		@Override
		public boolean isStale(RuntimeException failure) {
			return false;
		}

	}

}
