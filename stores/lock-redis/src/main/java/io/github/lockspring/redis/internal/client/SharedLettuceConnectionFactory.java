package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.protocol.DefaultEndpoint;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ClusterCommandExecutor;
import org.springframework.data.redis.connection.ClusterTopologyProvider;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClusterConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;

/**
 * Creates connection objects whose commands have a timeout of their own: that of the
 * client configuration is the handshake's.
 */
final class SharedLettuceConnectionFactory extends LettuceConnectionFactory {

	private final Duration commandTimeout;

	/**
	 * Creates a factory. Does not connect.
	 * @param shared whether its connections share one to the server
	 */
	SharedLettuceConnectionFactory(RedisConfiguration configuration, LettuceClientConfiguration clientConfiguration,
			Duration commandTimeout, boolean shared) {
		super(configuration, clientConfiguration);
		this.commandTimeout = commandTimeout;
		setShareNativeConnection(shared);
		setEarlyStartup(false);
		setValidateConnection(false);
		afterPropertiesSet();
	}

	@Override
	protected LettuceConnection doCreateLettuceConnection(
			@Nullable StatefulRedisConnection<byte[], byte[]> sharedConnection,
			LettuceConnectionProvider connectionProvider, long timeout, int database) {
		return super.doCreateLettuceConnection(sharedConnection, connectionProvider,
				Math.max(1, this.commandTimeout.toMillis()), database);
	}

	@Override
	protected LettuceClusterConnection doCreateLettuceClusterConnection(
			@Nullable StatefulRedisClusterConnection<byte[], byte[]> sharedConnection,
			LettuceConnectionProvider connectionProvider, ClusterTopologyProvider topologyProvider,
			ClusterCommandExecutor clusterCommandExecutor, Duration timeout) {
		return super.doCreateLettuceClusterConnection(sharedConnection, connectionProvider, topologyProvider,
				clusterCommandExecutor, this.commandTimeout);
	}

	/**
	 * Returns the asynchronous commands of the shared connection. Blocks while it
	 * connects.
	 */
	RedisScriptingAsyncCommands<byte[], byte[]> scripts() {
		StatefulRedisClusterConnection<byte[], byte[]> cluster = getSharedClusterConnection();
		return (cluster != null) ? cluster.async() : Objects.requireNonNull(getSharedConnection()).async();
	}

	/**
	 * Closes the connection to one node of a cluster, if there is one. Lettuce reconnects
	 * at once, and repeatedly if that fails. May block while Lettuce connects.
	 * @param node {@code host:port}, an IPv6 address in brackets
	 */
	void disconnect(String node) {
		StatefulRedisClusterConnection<byte[], byte[]> cluster = getSharedClusterConnection();
		if (cluster != null) {
			RedisNode address = RedisNode.fromString(node);
			CompletableFuture<StatefulRedisConnection<byte[], byte[]>> present = cluster
				.getConnectionAsync(address.getRequiredHost(), address.getRequiredPort());
			// close() would also end the reconnection
			if (present.isDone() && present.join() instanceof RedisChannelHandler<?, ?> handler
					&& handler.getChannelWriter() instanceof DefaultEndpoint endpoint) {
				endpoint.disconnect();
			}
		}
	}

}
