package io.github.lockspring.redis.internal.client;

import java.net.SocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.core.script.RedisScript;

/**
 * Sends scripts by Lettuce's asynchronous commands. Thread-safe; never blocks.
 */
final class LettuceScripts extends ScriptSender implements RedisConnectionStateListener {

	/*
	 * A script that is sent by its digest to a server that does not know it is sent again
	 * as text, and would be carried out after the commands that follow it. So its digest
	 * is used only where the server has carried it out since the connection was made.
	 * What an operator's SCRIPT FLUSH makes of the order is accepted: the store says that
	 * a late release or acquisition harms nobody.
	 */

	private record Known(String shard, String digest) {
	}

	private final Set<Known> known = ConcurrentHashMap.newKeySet();

	/**
	 * Forgets what servers know: at the other end of a new connection there may be a new
	 * one.
	 */
	@Override
	public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
		this.known.clear();
	}

	/**
	 * Sends a script.
	 * @param shard the server that executes it; null if that is not known
	 * @return the reply, or the driver's failure
	 */
	<T> CompletionStage<T> send(RedisScriptingAsyncCommands<byte[], byte[]> commands, @Nullable String shard,
			RedisScript<T> script, List<String> keys, Object[] args) {
		byte[][] keyBytes = bytes(keys.stream());
		byte[][] argBytes = bytes(Stream.of(args));
		ScriptOutputType type = (script.getResultType() == String.class) ? ScriptOutputType.VALUE
				: ScriptOutputType.MULTI;
		Known mine = (shard != null) ? new Known(shard, script.getSha1()) : null;
		CompletionStage<Object> reply;
		if (mine != null && !isDigestsRefused() && this.known.contains(mine)) {
			reply = commands.evalsha(script.getSha1(), type, keyBytes, argBytes)
				.exceptionallyCompose((failure) -> isUnknown(mine, failure)
						? commands.eval(script.getScriptAsString(), type, keyBytes, argBytes)
						: CompletableFuture.failedFuture(failure));
		}
		else {
			reply = commands.eval(script.getScriptAsString(), type, keyBytes, argBytes);
		}
		return reply.thenApply((value) -> {
			if (mine != null) {
				this.known.add(mine);
			}
			return ScriptSender.<T>decode(value);
		});
	}

	private boolean isUnknown(Known script, Throwable failure) {
		this.known.remove(script);
		return isTextNeeded(failure);
	}

}
