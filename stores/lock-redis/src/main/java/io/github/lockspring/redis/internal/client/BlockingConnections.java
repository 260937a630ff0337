package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import io.github.lockspring.internal.Stages;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Connections of a driver that blocks its caller. Uses a connection factory of an unknown
 * kind as it is.
 */
/*
 * For maintainers: the calling thread takes a connection, sends, and waits for the reply
 * no longer than its timeout, if the driver has one for each command. Getting the
 * connection comes on top.
 */
class BlockingConnections extends RedisConnections {

	private final RedisConnectionFactory application;

	private final LazyConnectionFactory factory = new LazyConnectionFactory(this::open, this::close);

	private final ScriptSender scripts = new ScriptSender();

	BlockingConnections(RedisConnectionFactory application, RedisEndpoint endpoint, Topology topology,
			Duration commandTimeout) {
		super(endpoint, topology, commandTimeout);
		this.application = application;
	}

	/**
	 * Creates and starts a factory. May block, and fail.
	 */
	RedisConnectionFactory open() {
		return this.application;
	}

	@Override
	public void close(RedisConnectionFactory factory) {
		// the application's
	}

	/**
	 * Sets how long commands of a connection wait for their reply, if that is possible.
	 */
	void setTimeout(RedisConnection connection, Duration timeout) {
		// the factory's own timeout applies
	}

	@Override
	<T> CompletionStage<T> send(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		return Stages.call(() -> {
			try (RedisConnection connection = this.factory.get().getConnection()) {
				setTimeout(connection, timeout);
				try {
					T reply = this.scripts.evaluate(connection, script, keys, args);
					setTimeout(connection, commandTimeout());
					return reply;
				}
				catch (RuntimeException ex) {
					if (RedisErrors.isErrorReply(ex)) {
						// the pool keeps it
						setTimeout(connection, commandTimeout());
					}
					throw ex;
				}
			}
		});
	}

	@Override
	<T extends @Nullable Object> T call(Function<StringRedisTemplate, T> commands) {
		return commands.apply(new StringRedisTemplate(this.factory.get()));
	}

	@Override
	void replace(String shard) {
		if (topology() != Topology.CLUSTER) {
			this.factory.replace();
		}
	}

	@Override
	public final boolean isBlocking() {
		return true;
	}

	@Override
	public RedisConnectionFactory openSubscriber() {
		return open();
	}

	@Override
	RedisConnectionFactory openDedicated(int size) {
		throw new UnsupportedOperationException("Only Lettuce and Jedis can wait for replicas");
	}

	@Override
	public void close() {
		super.close();
		this.factory.close();
	}

}
