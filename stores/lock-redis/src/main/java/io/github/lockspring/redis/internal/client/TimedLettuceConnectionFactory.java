package io.github.lockspring.redis.internal.client;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.protocol.DefaultEndpoint;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ClusterCommandExecutor;
import org.springframework.data.redis.connection.ClusterTopologyProvider;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClusterConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Creates connection objects with the timeout of the calling thread.
 */
final class TimedLettuceConnectionFactory extends LettuceConnectionFactory {

	/**
	 * The timeout of the calling thread, in milliseconds; if there is none, the command
	 * timeout of the client configuration applies.
	 */
	static final ThreadLocal<@Nullable Long> TIMEOUT = new ThreadLocal<>();

	/**
	 * Creates a factory. Does not connect.
	 * @param shared whether its connections share one to the server
	 */
	TimedLettuceConnectionFactory(RedisConfiguration configuration, LettuceClientConfiguration clientConfiguration,
			boolean shared) {
		super(configuration, clientConfiguration);
		setShareNativeConnection(shared);
		setEarlyStartup(false);
		setValidateConnection(false);
		afterPropertiesSet();
	}

	@Override
	protected LettuceConnection doCreateLettuceConnection(
			@Nullable StatefulRedisConnection<byte[], byte[]> sharedConnection,
			LettuceConnectionProvider connectionProvider, long timeout, int database) {
		Long callTimeout = TIMEOUT.get();
		return super.doCreateLettuceConnection(sharedConnection, connectionProvider,
				(callTimeout != null) ? callTimeout : timeout, database);
	}

	@Override
	protected LettuceClusterConnection doCreateLettuceClusterConnection(
			@Nullable StatefulRedisClusterConnection<byte[], byte[]> sharedConnection,
			LettuceConnectionProvider connectionProvider, ClusterTopologyProvider topologyProvider,
			ClusterCommandExecutor clusterCommandExecutor, Duration commandTimeout) {
		Long callTimeout = TIMEOUT.get();
		return super.doCreateLettuceClusterConnection(sharedConnection, connectionProvider, topologyProvider,
				clusterCommandExecutor, (callTimeout != null) ? Duration.ofMillis(callTimeout) : commandTimeout);
	}

	/**
	 * Sends a script on the shared connection, and does not wait.
	 * @param known whether the server knows it by its digest
	 * @return the reply as text; empty if there is no shared connection now
	 */
	@SuppressWarnings("FutureReturnValueIgnored")
	Optional<CompletionStage<String>> eval(RedisScript<String> script, boolean known, List<String> keys,
			Object[] args) {
		RedisConnection handle = getConnection();
		try {
			if (!(handle.getNativeConnection() instanceof RedisScriptingAsyncCommands<?, ?> scripts)) {
				return Optional.empty();
			}
			@SuppressWarnings("unchecked")
			RedisScriptingAsyncCommands<byte[], byte[]> commands = (RedisScriptingAsyncCommands<byte[], byte[]>) scripts;
			byte[][] keyBytes = bytes(keys.toArray());
			RedisFuture<byte[]> reply = known
					? commands.evalsha(script.getSha1(), ScriptOutputType.VALUE, keyBytes, bytes(args))
					: commands.eval(script.getScriptAsString(), ScriptOutputType.VALUE, keyBytes, bytes(args));
			return Optional.of(reply.thenApply((text) -> new String(text, StandardCharsets.UTF_8)));
		}
		finally {
			handle.close();
		}
	}

	private static byte[][] bytes(Object[] texts) {
		byte[][] bytes = new byte[texts.length][];
		for (int i = 0; i < texts.length; i++) {
			bytes[i] = texts[i].toString().getBytes(StandardCharsets.UTF_8);
		}
		return bytes;
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
