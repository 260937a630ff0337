package io.github.lockspring.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.api.StatefulRedisConnection;
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

	/**
	 * Ends the connection to one node of a cluster, if there is one. Lettuce makes
	 * another one at once, and goes on trying. May block while something connects.
	 * @param node {@code host:port}, an IPv6 address in brackets
	 */
	void disconnect(String node) {
		StatefulRedisClusterConnection<byte[], byte[]> cluster = getSharedClusterConnection();
		if (cluster != null) {
			RedisNode address = RedisNode.fromString(node);
			CompletableFuture<StatefulRedisConnection<byte[], byte[]>> present = cluster
				.getConnectionAsync(address.getRequiredHost(), address.getRequiredPort());
			// there is no other way to end a connection that is to be made again
			if (present.isDone() && present.join() instanceof RedisChannelHandler<?, ?> handler
					&& handler.getChannelWriter() instanceof DefaultEndpoint endpoint) {
				endpoint.disconnect();
			}
		}
	}

}
