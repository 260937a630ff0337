package io.github.lockspring.redis.internal.client;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.BeansException;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * Derives a store's own connections from the application's connection factory, which says
 * where its Redis is.
 *
 * @since 0.1
 */
public final class RedisConnectionsFactory {

	private static final Logger logger = LoggerFactory.getLogger(RedisConnectionsFactory.class);

	private static final ClassLoader LOADER = RedisConnectionsFactory.class.getClassLoader();

	private static final boolean LETTUCE = ClassUtils.isPresent("io.lettuce.core.RedisClient", LOADER);

	private static final boolean JEDIS = ClassUtils.isPresent("redis.clients.jedis.RedisClient", LOADER);

	private RedisConnectionsFactory() {
	}

	/**
	 * Creates connections. Does not connect.
	 * @param application the application's factory; need not be started, and stays the
	 * application's to close
	 * @param commandTimeout the longest time for one command
	 * @param connectTimeout the longest time for connecting to a single server, if longer
	 * @return the connections, to be closed by the caller
	 */
	public static RedisConnections create(RedisConnectionFactory application, Duration commandTimeout,
			Duration connectTimeout) {
		RedisConnections connections = LETTUCE ? Lettuce.create(application, commandTimeout, connectTimeout) : null;
		if (connections == null && JEDIS) {
			connections = Jedis.create(application, commandTimeout);
		}
		return (connections != null) ? connections : useAsItIs(application);
	}

	/**
	 * Describes the server of a connection factory. Does not connect.
	 * @param application the application's factory; need not be started
	 * @param beanName the name of the factory's bean, if messages are to tell it
	 * @return the endpoint
	 */
	public static RedisEndpoint endpoint(RedisConnectionFactory application, @Nullable String beanName) {
		RedisEndpoint endpoint = LETTUCE ? Lettuce.endpoint(application, beanName) : null;
		if (endpoint == null && JEDIS) {
			endpoint = Jedis.endpoint(application, beanName);
		}
		return (endpoint != null) ? endpoint : RedisEndpoint.of(application, beanName);
	}

	private static RedisConnections useAsItIs(RedisConnectionFactory application) {
		logger.warn(
				"Locks use the connection factory {} as it is, since its settings are not known: while Redis does not "
						+ "reply, up to {} threads wait until the factory's own timeouts end, and transactions and "
						+ "blocking commands of the application may delay the commands of locks",
				application.getClass().getName(), BlockingRedisConnections.WORKERS);
		return new BlockingRedisConnections(new AsItIs(application), RedisConnections.Topology.UNKNOWN);
	}

	/** Loaded only if Lettuce is on the class path. */
	private static final class Lettuce {

		static @Nullable RedisConnections create(RedisConnectionFactory application, Duration commandTimeout,
				Duration connectTimeout) {
			if (!(application instanceof LettuceConnectionFactory lettuce)) {
				return null;
			}
			RedisConfiguration configuration = configuration(lettuce);
			return (configuration != null)
					? new LettuceConnections(new DerivedLettuceConfiguration(lettuce.getClientConfiguration(),
							configuration, commandTimeout, connectTimeout))
					: null;
		}

		static @Nullable RedisEndpoint endpoint(RedisConnectionFactory application, @Nullable String beanName) {
			RedisConfiguration configuration = (application instanceof LettuceConnectionFactory lettuce)
					? configuration(lettuce) : null;
			if (configuration == null) {
				return null;
			}
			LettuceClientConfiguration client = ((LettuceConnectionFactory) application).getClientConfiguration();
			return RedisEndpoint.of(configuration, client.isUseSsl(),
					client.getRedisCredentialsProviderFactory().isPresent(), beanName);
		}

		/*
		 * The factory has getters for all kinds of configurations but the static master
		 * and replicas, for which it returns the default: localhost. Trusting that would
		 * lock on the wrong server, so the field itself is read.
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

	/** Loaded only if Jedis is on the class path. */
	private static final class Jedis {

		static @Nullable RedisConnections create(RedisConnectionFactory application, Duration commandTimeout) {
			if (!(application instanceof JedisConnectionFactory jedis)) {
				return null;
			}
			return new BlockingRedisConnections(new JedisSource(jedis, commandTimeout), topology(jedis));
		}

		static @Nullable RedisEndpoint endpoint(RedisConnectionFactory application, @Nullable String beanName) {
			if (!(application instanceof JedisConnectionFactory jedis)) {
				return null;
			}
			RedisConfiguration configuration = jedis.getSentinelConfiguration();
			configuration = (configuration != null) ? configuration : jedis.getClusterConfiguration();
			configuration = (configuration != null) ? configuration : jedis.getStandaloneConfiguration();
			return (configuration == null) ? null
					: RedisEndpoint.of(configuration, jedis.getClientConfiguration().isUseSsl(), false, beanName);
		}

		private static RedisConnections.Topology topology(JedisConnectionFactory jedis) {
			if (jedis.isRedisClusterAware()) {
				return RedisConnections.Topology.CLUSTER;
			}
			return jedis.isRedisSentinelAware() ? RedisConnections.Topology.SENTINEL : RedisConnections.Topology.SINGLE;
		}

	}

	private record AsItIs(RedisConnectionFactory application) implements BlockingRedisConnections.Source {

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
