package io.github.lockspring.redis.internal.client;

import java.net.ConnectException;
import java.net.SocketException;
import java.time.Duration;
import java.util.Objects;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
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
 * Jedis pools beside the application's, small ones with short timeouts of their own.
 */
/*
 * For maintainers: waiting for the pool and connecting take no longer than the command
 * timeout each. In a cluster the driver has no timeouts but the command timeout, and
 * tries twice. The sentinels notify the driver's pool when the master is replaced.
 */
final class JedisConnections extends BlockingConnections {

	private static final int CONNECTIONS = 16;

	// without tests of idle connections, the pool sends nothing for it
	private static final Duration IDLE_TIMEOUT = Duration.ofMinutes(1);

	/** The second one follows a redirect, or replaces a broken connection. */
	private static final int CLUSTER_ATTEMPTS = 2;

	private final RedisConfiguration where;

	private final JedisClientConfiguration application;

	private JedisConnections(JedisConnectionFactory application, RedisConfiguration where, RedisEndpoint endpoint,
			Duration commandTimeout) {
		super(application, endpoint, Topology.of(where), commandTimeout);
		this.where = where;
		this.application = application.getClientConfiguration();
	}

	/**
	 * Creates connections to the server of an application's factory. Does not connect.
	 * @param beanName the name of the factory, if messages are to contain it
	 */
	static JedisConnections of(JedisConnectionFactory application, @Nullable String beanName, Duration commandTimeout) {
		RedisConfiguration where = application.getSentinelConfiguration();
		where = (where != null) ? where : application.getClusterConfiguration();
		where = (where != null) ? where : Objects.requireNonNull(application.getStandaloneConfiguration(),
				"The Jedis connection factory has no configuration");
		return new JedisConnections(application, where,
				RedisEndpoint.of(where, application.isUseSsl(), false, beanName), commandTimeout);
	}

	@Override
	RedisConnectionFactory open() {
		return openDedicated(CONNECTIONS);
	}

	@Override
	public RedisConnectionFactory openSubscriber() {
		return openDedicated(1);
	}

	/**
	 * {@inheritDoc} It is not a view of the pool that takes another one for each command.
	 */
	@Override
	RedisConnectionFactory openDedicated(int size) {
		JedisConnectionFactory factory = newFactory(ours().usePooling().poolConfig(pool(size)).build());
		factory.setUseUnifiedJedis(false);
		factory.setEarlyStartup(false);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private JedisConnectionFactory newFactory(JedisClientConfiguration configuration) {
		if (this.where instanceof RedisSentinelConfiguration sentinel) {
			return new JedisConnectionFactory(sentinel, configuration);
		}
		if (this.where instanceof RedisClusterConfiguration cluster) {
			return new JedisConnectionFactory(fewAttempts(cluster), configuration);
		}
		return new JedisConnectionFactory((RedisStandaloneConfiguration) this.where, configuration);
	}

	/*
	 * The calling thread is occupied for a command timeout with each attempt at a node
	 * that does not reply.
	 */
	private static RedisClusterConfiguration fewAttempts(RedisClusterConfiguration application) {
		RedisClusterConfiguration cluster = new RedisClusterConfiguration();
		cluster.setClusterNodes(application.getClusterNodes());
		cluster.setUsername(application.getUsername());
		cluster.setPassword(application.getPassword());
		cluster.setMaxRedirects(CLUSTER_ATTEMPTS);
		return cluster;
	}

	private JedisClientConfigurationBuilder ours() {
		Duration configured = this.application.getConnectTimeout();
		Duration connectTimeout = configured.isZero() ? commandTimeout() : shorter(configured, commandTimeout());
		JedisClientConfigurationBuilder ours = JedisClientConfiguration.builder()
			.readTimeout(commandTimeout())
			.connectTimeout(connectTimeout);
		this.application.getClientConfigCustomizer().ifPresent(ours::customizeClientConfig);
		this.application.getClientCustomizer().ifPresent(ours::customizeClient);
		this.application.getClientName().filter(StringUtils::hasText).ifPresent(ours::clientName);
		if (this.application.isUseSsl()) {
			JedisSslClientConfigurationBuilder ssl = ours.useSsl();
			this.application.getSslSocketFactory().ifPresent(ssl::sslSocketFactory);
			this.application.getSslParameters().ifPresent(ssl::sslParameters);
			this.application.getHostnameVerifier().ifPresent(ssl::hostnameVerifier);
		}
		return ours;
	}

	private GenericObjectPoolConfig<?> pool(int size) {
		GenericObjectPoolConfig<?> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(size);
		pool.setMaxIdle(size);
		pool.setMaxWait(commandTimeout());
		pool.setMinEvictableIdleDuration(IDLE_TIMEOUT);
		pool.setTimeBetweenEvictionRuns(IDLE_TIMEOUT);
		pool.setNumTestsPerEvictionRun(size);
		pool.setJmxEnabled(false);
		return pool;
	}

	@Override
	void setTimeout(RedisConnection connection, Duration timeout) {
		if (connection.getNativeConnection() instanceof Jedis jedis) {
			// 0 would be no timeout
			jedis.getConnection().setSoTimeout(Math.toIntExact(Math.max(1, timeout.toMillis())));
		}
	}

	/**
	 * A connection that breaks in use shows that the server was restarted or replaced, so
	 * the others in the pool are broken too: one request fails instead of each.
	 */
	@Override
	boolean isBroken(Throwable failure) {
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		return (cause instanceof SocketException && !(cause instanceof ConnectException))
				// where connecting fails, it has the failure of each address
				|| (cause instanceof JedisConnectionException && cause.getSuppressed().length == 0);
	}

	@Override
	void discard(RedisConnection connection) {
		if (connection.getNativeConnection() instanceof Jedis jedis) {
			jedis.getConnection().setBroken();
		}
		connection.close();
	}

	@Override
	long waitForReplicas(RedisConnection connection, byte[] replicas, byte[] millis) {
		return (Long) Objects.requireNonNull(connection.execute("WAIT", replicas, millis));
	}

	@Override
	public void close(RedisConnectionFactory factory) {
		((JedisConnectionFactory) factory).destroy();
	}

}
