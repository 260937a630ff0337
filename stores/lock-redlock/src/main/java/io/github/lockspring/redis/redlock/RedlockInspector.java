package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.lockspring.internal.Stages;
import io.github.lockspring.redis.internal.Instances;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoredLock;
import org.jspecify.annotations.Nullable;

/**
 * Answers questions about the locks of a {@link RedlockLockStore}, from the replies of a
 * majority of all nodes. If those that reply do not decide, there is no result.
 * Thread-safe.
 */
final class RedlockInspector implements LockStoreInspector {

	private final Quorum quorum;

	private final RedisKeys keys;

	private final Instances instances;

	RedlockInspector(Quorum quorum, RedlockSettings settings) {
		this.quorum = quorum;
		this.keys = new RedisKeys(settings.keyPrefix());
		this.instances = new Instances(this.keys);
	}

	/**
	 * Votes of a request that has no majority, yet or any more, do not count as a lock.
	 */
	@Override
	public Optional<StoredLock> find(String key, Duration timeout) {
		List<String> keys = this.keys.lockAndFencingToken(key);
		Replies<List<Object>> replies = ask(
				(node) -> node.execute(RedlockScripts.INSPECT, keys, new Object[0], timeout), timeout);
		List<StoredLock> most = replies.received()
			.values()
			.stream()
			.filter((reply) -> !reply.isEmpty())
			.map((reply) -> parse(key, reply.stream().map(String::valueOf).toList()))
			.collect(Collectors.groupingBy(StoredLock::owner))
			.values()
			.stream()
			.max(Comparator.comparingInt(List::size))
			.orElse(List.of());
		if (this.quorum.isReached(most.size())) {
			return Optional.of(merge(most));
		}
		if (this.quorum.isReached(most.size() + replies.failures().size())) {
			throw replies.unavailable("%d of %d nodes replied, which do not decide who has the lock"
				.formatted(replies.received().size(), this.quorum.size()), (reply) -> null);
		}
		return Optional.empty();
	}

	private static StoredLock parse(String key, List<String> reply) {
		try {
			String value = reply.get(0);
			String token = value.substring(0, Math.max(0, value.lastIndexOf(':')));
			long left = Long.parseLong(reply.get(1));
			long age = Long.parseLong(reply.get(2));
			return new StoredLock(key, OwnerToken.parse(token).isPresent() ? token : value,
					(left < 0) ? null : Duration.ofMillis(left), (age < 0) ? null : Duration.of(age, ChronoUnit.MICROS),
					Long.parseLong(reply.get(3)), 0, List.of());
		}
		catch (IndexOutOfBoundsException | NumberFormatException ex) {
			throw RedisErrors.unexpected(reply);
		}
	}

	/**
	 * The lease lasts as long as a majority has it.
	 */
	private StoredLock merge(List<StoredLock> votes) {
		StoredLock first = votes.get(0);
		@Nullable Duration remaining = votes.stream()
			.map(StoredLock::remaining)
			.sorted(Comparator.nullsFirst(Comparator.<Duration>reverseOrder()))
			.toList()
			.get(this.quorum.majority() - 1);
		@Nullable Duration age = votes.stream()
			.map(StoredLock::age)
			.filter(Objects::nonNull)
			.max(Comparator.naturalOrder())
			.orElse(null);
		long fencingToken = votes.stream().mapToLong(StoredLock::fencingToken).max().orElse(0);
		return new StoredLock(first.key(), first.owner(), remaining, age, fencingToken, 0, List.of());
	}

	@Override
	public boolean forceRelease(StoredLock seen, Duration timeout) {
		List<String> keys = this.keys.lockAndFencingToken(seen.key());
		Object[] args = { seen.owner(), String.valueOf(RedlockRequests.ANY_ATTEMPT),
				String.valueOf(seen.fencingToken() + 1), "0" };
		Replies<String> replies = ask((node) -> node.execute(RedlockScripts.WITHDRAW, keys, args, timeout), timeout);
		int released = replies.count("1"::equals);
		if (this.quorum.isBlocked(replies.received().size() - released)) {
			return false;
		}
		if (!this.quorum.isReached(released)) {
			throw replies.unavailable("%d of %d nodes released the lock, %d needed".formatted(released,
					this.quorum.size(), this.quorum.majority()), (reply) -> null);
		}
		return true;
	}

	@Override
	public void register(String instance, InstanceInfo info, Duration ttl, Duration timeout) {
		Replies<Boolean> replies = ask(
				(node) -> node.run((template) -> this.instances.register(template, instance, info, ttl), timeout),
				timeout);
		if (replies.received().isEmpty()) {
			throw replies.unavailable("no node took the entry of the instance", (done) -> null);
		}
	}

	@Override
	public Map<String, InstanceInfo> instances(Collection<String> instances, Duration timeout) {
		if (instances.isEmpty()) {
			return Map.of();
		}
		Map<String, InstanceInfo> known = new HashMap<>();
		ask((node) -> node.run((template) -> this.instances.find(template, instances), timeout), timeout).received()
			.values()
			.forEach(known::putAll);
		return known;
	}

	/** Waits for the replies of all nodes that reply in time. */
	private <R> Replies<R> ask(Function<RedlockNodeClient, CompletableFuture<R>> request, Duration timeout) {
		// each node ends in time; a busy machine may report that late
		return Stages.join(this.quorum.ask(request, (replies) -> false), timeout.plusSeconds(1));
	}

}
