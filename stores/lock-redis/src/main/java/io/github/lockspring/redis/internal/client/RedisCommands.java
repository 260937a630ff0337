package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionCommands;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Executes scripts and publishes messages within a timeout. Turns every failure of a
 * script into a {@link LockUnavailableException}.
 *
 * @since 0.1
 */
public final class RedisCommands implements RedisScriptExecutor {

	private static final long MIN_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);

	private static final long MAX_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	private final RedisConnections connections;

	private final RedisEndpoint endpoint;

	private final Duration commandTimeout;

	/**
	 * Creates the commands.
	 * @param connections stay the caller's to close
	 * @param endpoint names their server in messages
	 * @param commandTimeout the longest time for one call
	 */
	public RedisCommands(RedisConnections connections, RedisEndpoint endpoint, Duration commandTimeout) {
		this.connections = connections;
		this.endpoint = endpoint;
		this.commandTimeout = commandTimeout;
	}

	@Override
	public <T> T execute(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout,
			@Nullable AtomicInteger sends) {
		return execute(script, keys, args, timeout, sends, true);
	}

	@Override
	public <T> T executeOnce(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout) {
		return execute(script, keys, args, timeout, null, false);
	}

	@Override
	public Optional<CompletionStage<String>> executeAsync(RedisScript<String> script, List<String> keys,
			Object[] args) {
		return this.connections.executeAsync(script, keys, args);
	}

	private <T> T execute(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout,
			@Nullable AtomicInteger sends, boolean repeat) {
		Duration limit = (timeout.compareTo(this.commandTimeout) < 0) ? timeout : this.commandTimeout;
		long start = System.nanoTime();
		long pause = MIN_PAUSE;
		while (true) {
			try {
				return send(script, keys, args, limit.minusNanos(System.nanoTime() - start), sends);
			}
			catch (RuntimeException ex) {
				long left = limit.toNanos() - (System.nanoTime() - start);
				if (!repeat || ex instanceof LockUnavailableException || !RedisErrors.isTransient(ex)
						|| Thread.currentThread().isInterrupted() || left < 2 * pause) {
					throw this.endpoint.unavailable(limit, ex);
				}
			}
			LockSupport.parkNanos(pause);
			pause = Math.min(2 * pause, MAX_PAUSE);
		}
	}

	private <T> T send(RedisScript<T> script, List<String> keys, Object[] args, Duration timeout,
			@Nullable AtomicInteger sends) {
		@Nullable T reply = this.connections.<@Nullable T>call(this.connections.shard(keys.get(0)), (template) -> {
			if (sends != null) {
				sends.incrementAndGet();
			}
			return template.execute(script, keys, args);
		}, timeout);
		if (reply == null) {
			throw RedisErrors.noReply();
		}
		this.endpoint.replied();
		return reply;
	}

	/**
	 * Executes a command that is no script, once.
	 * @param <T> type of the result
	 * @param key the key that it is about
	 * @param command the command
	 * @param timeout the longest wait; the command timeout if that is shorter
	 * @return the result
	 * @throws LockUnavailableException without a result
	 */
	public <T extends @Nullable Object> T run(String key, Function<StringRedisTemplate, T> command, Duration timeout) {
		Duration limit = (timeout.compareTo(this.commandTimeout) < 0) ? timeout : this.commandTimeout;
		try {
			return this.connections.call(this.connections.shard(key), command, limit);
		}
		catch (RuntimeException ex) {
			throw this.endpoint.unavailable(limit, ex);
		}
	}

	/**
	 * Sends a command to the server, in a cluster to each master at the same time.
	 * @throws RuntimeException if that fails, as the driver or Spring Data throws it
	 */
	public void ping() {
		this.connections.call(RedisConnections.ANY_SHARD,
				(template) -> template.execute((RedisCallback<String>) RedisConnectionCommands::ping),
				this.commandTimeout);
	}

	/**
	 * Publishes a message, once.
	 * @param channel the channel
	 * @param message the message
	 * @throws RuntimeException if that fails, as the driver or Spring Data throws it
	 */
	public void publish(String channel, String message) {
		// drivers send it to the node of the key that has the channel's name
		this.connections.call(this.connections.shard(channel), (template) -> template.convertAndSend(channel, message),
				this.commandTimeout);
	}

}
