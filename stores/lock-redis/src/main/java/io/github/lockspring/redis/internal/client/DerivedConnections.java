package io.github.lockspring.redis.internal.client;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Derives a store's own connections from the application's connection factory, which has
 * the address of its Redis.
 *
 * @since 0.1
 */
public final class DerivedConnections {

	private static final Logger logger = LoggerFactory.getLogger(DerivedConnections.class);

	private DerivedConnections() {
	}

	/**
	 * Creates connections. Does not connect.
	 * @param application the application's factory; need not be started, and stays the
	 * application's to close
	 * @param beanName the name of the factory's bean, if messages are to contain it
	 * @param commandTimeout the longest time for one command
	 * @param connectTimeout the longest time for connecting to a single server, if longer
	 * @return the connections, to be closed by the caller
	 */
	public static RedisConnections create(RedisConnectionFactory application, @Nullable String beanName,
			Duration commandTimeout, Duration connectTimeout) {
		RedisConnections connections = null;
		// the classes of a driver need not be there: those that use them are loaded here
		if (application instanceof LettuceConnectionFactory lettuce) {
			connections = LettuceConnections.of(lettuce, beanName, commandTimeout, connectTimeout);
		}
		else if (application instanceof JedisConnectionFactory jedis) {
			connections = JedisConnections.of(jedis, beanName, commandTimeout);
		}
		return (connections != null) ? connections : useAsItIs(application, beanName, commandTimeout);
	}

	private static RedisConnections useAsItIs(RedisConnectionFactory application, @Nullable String beanName,
			Duration commandTimeout) {
		logger.warn(
				"Locks use the connection factory {} as it is, since its settings are not known: while Redis does not "
						+ "reply, threads wait until the factory's own timeouts end, and transactions and blocking "
						+ "commands of the application may delay the commands of locks",
				application.getClass().getName());
		return new BlockingConnections(application, RedisEndpoint.of(application, beanName),
				RedisConnections.Topology.UNKNOWN, commandTimeout);
	}

}
