package io.github.lockspring.redis.client;

import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Optional;

import javax.net.ssl.HostnameVerifier;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocketFactory;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfigBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

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

	private JedisConnectionFactory newFactory(int connections) {
		JedisClientConfiguration configuration = new Configuration(this.application.getClientConfiguration(),
				this.commandTimeout, connections);
		RedisSentinelConfiguration sentinel = this.application.getSentinelConfiguration();
		if (sentinel != null) {
			return new JedisConnectionFactory(sentinel, configuration);
		}
		RedisClusterConfiguration cluster = this.application.getClusterConfiguration();
		if (cluster != null) {
			return new JedisConnectionFactory(cluster, configuration);
		}
		RedisStandaloneConfiguration standalone = this.application.getStandaloneConfiguration();
		if (standalone == null) {
			throw new IllegalStateException("The Jedis connection factory has no configuration");
		}
		return new JedisConnectionFactory(standalone, configuration);
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

	private static final class Configuration implements JedisClientConfiguration {

		private final JedisClientConfiguration application;

		private final Duration commandTimeout;

		private final GenericObjectPoolConfig<?> pool = new GenericObjectPoolConfig<>();

		Configuration(JedisClientConfiguration application, Duration commandTimeout, int connections) {
			this.application = application;
			this.commandTimeout = commandTimeout;
			this.pool.setMaxTotal(connections);
			this.pool.setMaxIdle(connections);
			this.pool.setMaxWait(commandTimeout);
			this.pool.setMinEvictableIdleDuration(IDLE_TIMEOUT);
			this.pool.setTimeBetweenEvictionRuns(IDLE_TIMEOUT);
			this.pool.setNumTestsPerEvictionRun(connections);
			this.pool.setJmxEnabled(false);
		}

		@Override
		public Duration getReadTimeout() {
			return this.commandTimeout;
		}

		@Override
		public Duration getConnectTimeout() {
			Duration configured = this.application.getConnectTimeout();
			boolean shorter = !configured.isZero() && configured.compareTo(this.commandTimeout) < 0;
			return shorter ? configured : this.commandTimeout;
		}

		@Override
		public boolean isUsePooling() {
			return true;
		}

		@Override
		public Optional<GenericObjectPoolConfig<?>> getPoolConfig() {
			return Optional.of(this.pool);
		}

		@Override
		public Optional<JedisClientConfigBuilderCustomizer> getClientConfigCustomizer() {
			JedisClientConfigBuilderCustomizer ours = (builder) -> {
				this.application.getClientConfigCustomizer().ifPresent((theirs) -> theirs.customize(builder));
				builder.socketTimeoutMillis(Math.toIntExact(getReadTimeout().toMillis()));
				builder.connectionTimeoutMillis(Math.toIntExact(getConnectTimeout().toMillis()));
			};
			return Optional.of(ours);
		}

		@Override
		public Optional<JedisClientBuilderCustomizer> getClientCustomizer() {
			return this.application.getClientCustomizer();
		}

		@Override
		public boolean isUseSsl() {
			return this.application.isUseSsl();
		}

		@Override
		public Optional<SSLSocketFactory> getSslSocketFactory() {
			return this.application.getSslSocketFactory();
		}

		@Override
		public Optional<SSLParameters> getSslParameters() {
			return this.application.getSslParameters();
		}

		@Override
		public Optional<HostnameVerifier> getHostnameVerifier() {
			return this.application.getHostnameVerifier();
		}

		@Override
		public Optional<String> getClientName() {
			return this.application.getClientName();
		}

	}

}
