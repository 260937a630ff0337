package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;

import io.github.lockspring.redis.internal.InstanceText;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.redis.redlock.RedlockNodeClient.NodeResult;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoredLock;
import org.jspecify.annotations.Nullable;

/**
 * Answers questions about the locks of a {@link RedlockLockStore}: what a majority of all
 * nodes says. Where those that reply do not decide, there is no result. Thread-safe.
 */
final class RedlockInspector implements LockStoreInspector {

	private final Quorum quorum;

	private final RedisKeys keys;

	RedlockInspector(Quorum quorum, RedlockSettings settings) {
		this.quorum = quorum;
		this.keys = new RedisKeys(settings.keyPrefix());
	}

	/**
	 * Votes of a request that has no majority, yet or any more, are no lock.
	 */
	@Override
	public Optional<StoredLock> find(String key, Duration timeout) {
		Map<String, List<StoredLock>> owners = new HashMap<>();
		List<String> keys = this.keys.lockAndFencingToken(key);
		QuorumRequest<List<Object>> request = send(
				(node, limit) -> node.execute(RedlockScripts.INSPECT, keys, new Object[0], limit), timeout);
		read(request, (reply) -> {
			if (!reply.isEmpty()) {
				StoredLock vote = parse(key, reply.stream().map(String::valueOf).toList());
				owners.computeIfAbsent(vote.owner(), (owner) -> new ArrayList<>()).add(vote);
			}
		});
		List<StoredLock> most = owners.values().stream().max(Comparator.comparingInt(List::size)).orElse(List.of());
		if (this.quorum.isReached(most.size())) {
			return Optional.of(merge(most));
		}
		if (this.quorum.isReached(most.size() + this.quorum.size() - request.accepted())) {
			throw request.unavailable("%d of %d nodes replied, which do not decide who has the lock"
				.formatted(request.accepted(), this.quorum.size()));
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
		Object[] args = { seen.owner(), String.valueOf(seen.fencingToken() + 1) };
		List<String> replies = new ArrayList<>();
		QuorumRequest<String> request = send((node, limit) -> node.execute(RedlockScripts.FORCE, keys, args, limit),
				timeout);
		read(request, replies::add);
		int others = (int) replies.stream().filter("0"::equals).count();
		if (this.quorum.isBlocked(others)) {
			return false;
		}
		if (!this.quorum.isReached(replies.size() - others)) {
			throw request.unavailable("%d of %d nodes released the lock, %d needed".formatted(replies.size() - others,
					this.quorum.size(), this.quorum.majority()));
		}
		return true;
	}

	@Override
	public void register(String instance, InstanceInfo info, Duration ttl, Duration timeout) {
		String key = this.keys.instance(instance);
		QuorumRequest<Boolean> request = send((node, limit) -> node.run(key, (template) -> {
			template.opsForValue().set(key, InstanceText.of(info), ttl);
			return true;
		}, limit), timeout);
		read(request, (done) -> {
		});
		if (request.accepted() == 0) {
			throw request.unavailable("no node took the entry of the instance");
		}
	}

	@Override
	public Map<String, InstanceInfo> instances(Collection<String> instances, Duration timeout) {
		if (instances.isEmpty()) {
			return Map.of();
		}
		List<String> distinct = instances.stream().distinct().toList();
		List<String> names = distinct.stream().map(this.keys::instance).toList();
		Map<String, InstanceInfo> known = new HashMap<>();
		QuorumRequest<List<@Nullable String>> request = send((node, limit) -> node.run(names.get(0),
				(template) -> Objects.requireNonNullElse(template.opsForValue().multiGet(names), List.of()), limit),
				timeout);
		read(request, (values) -> {
			for (int i = 0; i < values.size(); i++) {
				InstanceInfo info = InstanceText.parse(values.get(i));
				if (info != null) {
					known.put(distinct.get(i), info);
				}
			}
		});
		return known;
	}

	private <R> QuorumRequest<R> send(BiFunction<RedlockNodeClient, Duration, R> request, Duration timeout) {
		return new QuorumRequest<>(this.quorum.nodes(), request, timeout, timeout, (late) -> {
		});
	}

	/** Reads what all nodes say in time. */
	private static <R> void read(QuorumRequest<R> request, Consumer<R> consumer) {
		try {
			request.readUntil(() -> false, (result) -> {
				if (result instanceof NodeResult.Failure<R> failure) {
					request.fail(failure);
				}
				else {
					request.accept(result.node());
					consumer.accept(((NodeResult.Success<R>) result).result());
				}
			});
		}
		catch (InterruptedException ex) {
			throw RedisErrors.interrupted(ex);
		}
		finally {
			request.leave();
		}
	}

}
