package io.github.lockspring.redis.internal.client;

import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Objects;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration.JedisClientConfigurationBuilder;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration.JedisSslClientConfigurationBuilder;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.util.StringUtils;

/**
 * Creates Jedis factories from the application's, with a small pool and short timeouts of
 * their own.
 */
final class JedisSource implements BlockingRedisConnections.Source {

	// without tests of idle connections, the pool sends nothing for it
	private static final Duration IDLE_TIMEOUT = Duration.ofMinutes(1);

	private static final String NOT_CONNECTED = "Failed to connect";

	private final JedisConnectionFactory application;

	private final Duration commandTimeout;

	JedisSource(JedisConnectionFactory application, Duration commandTimeout) {
		this.application = application;
		this.commandTimeout = commandTimeout;
	}

	@Override
	public RedisConnectionFactory open(int connections) {
		return start(newFactory(connections));
	}

	/**
	 * Creates and starts a factory each of whose connections is one to the server,
	 * instead of a view of a pool that takes another one for each command.
	 */
	RedisConnectionFactory openDedicated(int connections) {
		JedisConnectionFactory factory = newFactory(connections);
		factory.setUseUnifiedJedis(false);
		return start(factory);
	}

	private static RedisConnectionFactory start(JedisConnectionFactory factory) {
		factory.setEarlyStartup(false);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	@Override
	public DedicatedConnections dedicated(int size) {
		return new JedisDedicatedConnections(this, size);
	}

	@Override
	public BlockingRedisConnections.CallerSource forCallers() {
		return new CallerSource();
	}

	private JedisConnectionFactory newFactory(int connections) {
		return newFactory(ours().usePooling().poolConfig(pool(connections)).build());
	}

	private JedisConnectionFactory newFactory(JedisClientConfiguration configuration) {
		RedisSentinelConfiguration sentinel = this.application.getSentinelConfiguration();
		if (sentinel != null) {
			return new JedisConnectionFactory(sentinel, configuration);
		}
		RedisClusterConfiguration cluster = this.application.getClusterConfiguration();
		if (cluster != null) {
			return new JedisConnectionFactory(cluster, configuration);
		}
		RedisStandaloneConfiguration standalone = Objects.requireNonNull(this.application.getStandaloneConfiguration(),
				"The Jedis connection factory has no configuration");
		return new JedisConnectionFactory(standalone, configuration);
	}

	private JedisClientConfigurationBuilder ours() {
		JedisClientConfiguration theirs = this.application.getClientConfiguration();
		Duration configured = theirs.getConnectTimeout();
		Duration connectTimeout = (!configured.isZero() && configured.compareTo(this.commandTimeout) < 0) ? configured
				: this.commandTimeout;
		JedisClientConfigurationBuilder ours = JedisClientConfiguration.builder()
			.readTimeout(this.commandTimeout)
			.connectTimeout(connectTimeout)
			.customizeClientConfig((builder) -> {
				theirs.getClientConfigCustomizer().ifPresent((customizer) -> customizer.customize(builder));
				builder.socketTimeoutMillis(Math.toIntExact(this.commandTimeout.toMillis()));
				builder.connectionTimeoutMillis(Math.toIntExact(connectTimeout.toMillis()));
			});
		theirs.getClientCustomizer().ifPresent(ours::customizeClient);
		theirs.getClientName().filter(StringUtils::hasText).ifPresent(ours::clientName);
		if (theirs.isUseSsl()) {
			JedisSslClientConfigurationBuilder ssl = ours.useSsl();
			theirs.getSslSocketFactory().ifPresent(ssl::sslSocketFactory);
			theirs.getSslParameters().ifPresent(ssl::sslParameters);
			theirs.getHostnameVerifier().ifPresent(ssl::hostnameVerifier);
		}
		return ours;
	}

	private GenericObjectPoolConfig<?> pool(int connections) {
		GenericObjectPoolConfig<?> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(connections);
		pool.setMaxIdle(connections);
		pool.setMaxWait(this.commandTimeout);
		pool.setMinEvictableIdleDuration(IDLE_TIMEOUT);
		pool.setTimeBetweenEvictionRuns(IDLE_TIMEOUT);
		pool.setNumTestsPerEvictionRun(connections);
		pool.setJmxEnabled(false);
		return pool;
	}

	@Override
	public void close(RedisConnectionFactory factory) {
		((JedisConnectionFactory) factory).destroy();
	}

	@Override
	public boolean isStale(RuntimeException failure) {
		JedisConnectionException found = null;
		for (Throwable next = failure; next != null; next = next.getCause()) {
			if (next instanceof SocketTimeoutException || next instanceof ConnectException) {
				return false;
			}
			if (next instanceof JedisConnectionException connection) {
				found = connection;
			}
		}
		// for a name with several addresses, the causes are suppressed exceptions
		return found != null && !String.valueOf(found.getMessage()).startsWith(NOT_CONNECTED);
	}

	static boolean isErrorReply(RuntimeException failure) {
		return NestedExceptionUtils.getMostSpecificCause(failure) instanceof JedisDataException;
	}

	/**
	 * Connections without a pool, which would connect anew when a broken one is returned,
	 * on the thread that returns it.
	 */
	private final class CallerSource implements BlockingRedisConnections.CallerSource {

		private final LazyReference<RedisConnectionFactory> factory = new LazyReference<>(() -> {
			JedisConnectionFactory unpooled = newFactory(ours().build());
			unpooled.setUseUnifiedJedis(false);
			return start(unpooled);
		});

		@Override
		public RedisConnection connect() {
			RedisConnection connection = this.factory.get().getConnection();
			jedis(connection).getConnection().connect();
			return connection;
		}

		@Override
		public void disconnect(RedisConnection connection) {
			try {
				jedis(connection).disconnect();
			}
			catch (JedisException ex) {
				// it is closed as far as possible
			}
		}

		@Override
		public void setTimeout(RedisConnection connection, Duration timeout) {
			if (timeout.isNegative() || timeout.isZero()) {
				throw new QueryTimeoutException("No time left for a command");
			}
			// 0 would be no timeout
			jedis(connection).getConnection().setSoTimeout(Math.toIntExact(Math.max(1, timeout.toMillis())));
		}

		@Override
		public boolean isTimeout(RuntimeException failure) {
			return NestedExceptionUtils.getMostSpecificCause(failure) instanceof SocketTimeoutException;
		}

		@Override
		public boolean isErrorReply(RuntimeException failure) {
			return JedisSource.isErrorReply(failure);
		}

		@Override
		public void close() {
			this.factory.close(JedisSource.this::close);
		}

		private static Jedis jedis(RedisConnection connection) {
			return (Jedis) connection.getNativeConnection();
		}

	}

}
