package io.github.lockspring.redis;

import java.time.Duration;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ClusterCommandExecutor;
import org.springframework.data.redis.connection.ClusterTopologyProvider;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClusterConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;

/**
 * Makes connection objects that wait for an answer as long as the calling thread wants
 * to.
 */
final class TimedLettuceConnectionFactory extends LettuceConnectionFactory {

	/**
	 * The longest wait of the calling thread, in milliseconds; without one, the command
	 * timeout of the client's configuration.
	 */
	static final ThreadLocal<@Nullable Long> TIMEOUT = new ThreadLocal<>();

	TimedLettuceConnectionFactory(RedisConfiguration configuration, LettuceClientConfiguration clientConfiguration) {
		super(configuration, clientConfiguration);
	}

	@Override
	protected LettuceConnection doCreateLettuceConnection(
			@Nullable StatefulRedisConnection<byte[], byte[]> sharedConnection,
			LettuceConnectionProvider connectionProvider, long timeout, int database) {
		Long wanted = TIMEOUT.get();
		return super.doCreateLettuceConnection(sharedConnection, connectionProvider,
				(wanted != null) ? wanted : timeout, database);
	}

	@Override
	protected LettuceClusterConnection doCreateLettuceClusterConnection(
			@Nullable StatefulRedisClusterConnection<byte[], byte[]> sharedConnection,
			LettuceConnectionProvider connectionProvider, ClusterTopologyProvider topologyProvider,
			ClusterCommandExecutor clusterCommandExecutor, Duration commandTimeout) {
		Long wanted = TIMEOUT.get();
		return super.doCreateLettuceClusterConnection(sharedConnection, connectionProvider, topologyProvider,
				clusterCommandExecutor, (wanted != null) ? Duration.ofMillis(wanted) : commandTimeout);
	}

}
