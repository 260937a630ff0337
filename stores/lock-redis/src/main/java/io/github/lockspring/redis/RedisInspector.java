package io.github.lockspring.redis;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.redis.internal.Instances;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.redis.internal.client.RedisConnections;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.redis.internal.client.RedisScriptExecutor;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.StoredLock;

import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Answers questions about the locks of a {@link RedisLockStore}. Thread-safe.
 *
 * @param releaseScripts releases locks as their owners do
 * @param exactCount whether one server knows every subscriber of an inbox, for the script
 * @param publisher publishes messages that a script may not
 * @param lookups executes commands other than scripts
 */
record RedisInspector(RedisKeys keys, RedisConnections connections, RedisScriptExecutor releaseScripts,
		String exactCount, Consumer<String> publisher, Executor lookups) implements LockStoreInspector {

	@Override
	public Optional<StoredLock> find(String key, Duration timeout) {
		Object[] most = { String.valueOf(StoredLock.MAX_QUEUE) };
		List<String> reply = Stages
			.join(this.connections.execute(RedisScripts.INSPECT, this.keys.all(key), most, timeout), timeout)
			.stream()
			.map(String::valueOf)
			.toList();
		return reply.isEmpty() ? Optional.empty() : Optional.of(parse(key, reply));
	}

	private static StoredLock parse(String key, List<String> reply) {
		try {
			String owner = reply.get(0);
			long millis = Long.parseLong(reply.get(1));
			boolean aged = StoredLock.instance(owner).isPresent() && !reply.get(2).equals("-1");
			List<String> queue = reply.stream()
				.skip(5)
				.flatMap((member) -> StoredLock.instance(member).stream())
				.toList();
			return new StoredLock(key, owner, (millis < 0) ? null : Duration.ofMillis(millis),
					aged ? Duration.of(Long.parseLong(reply.get(2)), ChronoUnit.MICROS) : null,
					Long.parseLong(reply.get(3)), Integer.parseInt(reply.get(4)), queue);
		}
		catch (IndexOutOfBoundsException | NumberFormatException ex) {
			throw RedisErrors.unexpected(reply);
		}
	}

	/*
	 * The script that the owner itself would send, with a fencing token as after local
	 * hand-offs.
	 */
	@Override
	public boolean forceRelease(StoredLock seen, Duration timeout) {
		Object[] args = { seen.owner(), String.valueOf(seen.fencingToken() + 1), "0", this.exactCount };
		String reply = Stages
			.join(this.releaseScripts.execute(RedisScripts.RELEASE, this.keys.all(seen.key()), args, timeout), timeout);
		if (reply.startsWith("2 0 ")) {
			this.publisher.accept(reply.substring(4));
		}
		return !reply.startsWith("0");
	}

	@Override
	public void register(String instance, InstanceInfo info, Duration ttl, Duration timeout) {
		run((template) -> new Instances(this.keys).register(template, instance, info, ttl), timeout);
	}

	@Override
	public Map<String, InstanceInfo> instances(Collection<String> instances, Duration timeout) {
		return instances.isEmpty() ? Map.of()
				: run((template) -> new Instances(this.keys).find(template, instances), timeout);
	}

	/*
	 * On the calling thread, a connection and its command could take a command timeout
	 * each. What has timed out before its turn is not sent.
	 */
	private <T> T run(Function<StringRedisTemplate, T> commands, Duration timeout) {
		CompletableFuture<T> result;
		try {
			result = CompletableFuture.supplyAsync(() -> this.connections.run(commands), this.lookups);
		}
		catch (RejectedExecutionException | Error ex) {
			throw new LockUnavailableException(
					"Too many requests wait for Redis, no thread is available, or the lock store is closed", ex);
		}
		try {
			return Stages.join(result, timeout);
		}
		finally {
			result.cancel(false);
		}
	}

}
