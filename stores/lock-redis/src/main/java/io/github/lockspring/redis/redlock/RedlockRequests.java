package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.redis.internal.client.RedisErrors;
import io.github.lockspring.redis.redlock.RedlockRenewal.Held;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult.NotOwner;
import io.github.lockspring.store.LockStore.ReleaseResult.Released;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;

/**
 * Creates the requests that are sent to single nodes, as scripts.
 */
final class RedlockRequests {

	/** Larger than all others, and exact in Lua. */
	static final long ANY_ATTEMPT = 9007199254740991L;

	private static final int WITHDRAWAL_TIMEOUTS = 3;

	private static final int PAUSES_IN_A_TIMEOUT = 4;

	private final RedlockSettings settings;

	private final RedisKeys keys;

	RedlockRequests(RedlockSettings settings) {
		this.settings = settings;
		this.keys = new RedisKeys(settings.keyPrefix());
	}

	BiFunction<RedlockNodeClient, Duration, NodeAcquireResult> acquire(AcquireRequest request, long attempt) {
		List<String> keys = this.keys.lockAndFencingToken(request.key());
		String token = request.token().toString();
		String ttl = lease(request.ttl());
		String pause = String.valueOf(this.settings.pauseSeconds());
		return (node, timeout) -> {
			Object[] args = { token, String.valueOf(attempt), ttl, pause, (node.runId() == null) ? "1" : "0" };
			return NodeAcquireResult.parse(node.execute(RedlockScripts.ACQUIRE, keys, args, timeout));
		};
	}

	/**
	 * Results in whether the token owns the lock on the node.
	 */
	BiFunction<RedlockNodeClient, Duration, Boolean> confirm(AcquireRequest request, long attempt, long fencingToken) {
		List<String> keys = this.keys.lockAndFencingToken(request.key());
		Object[] args = { request.token().toString(), String.valueOf(attempt), lease(request.ttl()),
				String.valueOf(fencingToken) };
		return (node, timeout) -> node.execute(RedlockScripts.CONFIRM, keys, args, timeout).equals("1");
	}

	BiFunction<RedlockNodeClient, Duration, ReleaseResult> withdraw(AcquireRequest request, long attempt) {
		return withdraw(new ReleaseRequest(request.key(), request.token()), attempt, 0);
	}

	/**
	 * Releases a lock.
	 * @param fencingToken the fencing token of its ownership, 0 if it is not known
	 */
	BiFunction<RedlockNodeClient, Duration, ReleaseResult> release(ReleaseRequest request, long fencingToken) {
		return withdraw(request, ANY_ATTEMPT, Math.max(fencingToken, request.lastFencingToken()));
	}

	private BiFunction<RedlockNodeClient, Duration, ReleaseResult> withdraw(ReleaseRequest request, long attempt,
			long lastFencingToken) {
		List<String> keys = this.keys.lockAndFencingToken(request.key());
		Object[] args = { request.token().toString(), String.valueOf(attempt), String.valueOf(lastFencingToken),
				request.keep().isZero() ? "0" : lease(request.keep()) };
		return (node, timeout) -> {
			AtomicInteger sends = new AtomicInteger();
			String reply = repeat(timeout, () -> node.execute(RedlockScripts.WITHDRAW, keys, args, timeout, sends));
			return reply.equals("1") ? new Released()
					: RedisErrors.parse(reply, 2, (words) -> NotOwner.of(Long.parseLong(words[1]), sends.get()));
		};
	}

	/*
	 * A vote that is not withdrawn stays for the ttl. A busy machine may give up a
	 * command before it is sent, and callers wait only until their timeout: so it is
	 * repeated for a while, on the node's thread.
	 */
	private static String repeat(Duration timeout, Supplier<String> request) {
		long start = System.nanoTime();
		while (true) {
			try {
				return request.get();
			}
			catch (LockUnavailableException ex) {
				if (ex.isPermanent() || System.nanoTime() - start >= timeout.toNanos() * WITHDRAWAL_TIMEOUTS
						|| Thread.currentThread().isInterrupted()) {
					throw ex;
				}
			}
			LockSupport.parkNanos(timeout.toNanos() / PAUSES_IN_A_TIMEOUT);
		}
	}

	/**
	 * Changes nothing.
	 */
	BiFunction<RedlockNodeClient, Duration, ?> first() {
		List<String> keys = this.keys.lockAndFencingToken("");
		Object[] args = { "-", "1", "1", "0" };
		return (node, timeout) -> node.execute(RedlockScripts.RENEW, keys, args, timeout);
	}

	/**
	 * Results in whether the token owns its lock on the node, for each request.
	 * @param owned what is known of their ownerships, in the order of the requests
	 */
	BiFunction<RedlockNodeClient, Duration, List<Boolean>> renew(List<RenewRequest> requests, List<Held> owned) {
		List<String> keys = new ArrayList<>(2 * requests.size());
		List<String> args = new ArrayList<>(4 * requests.size());
		for (int i = 0; i < requests.size(); i++) {
			RenewRequest request = requests.get(i);
			Held held = owned.get(i);
			keys.addAll(this.keys.lockAndFencingToken(request.key()));
			Collections.addAll(args, request.token().toString(), String.valueOf(held.attempt()), lease(request.ttl()),
					String.valueOf(held.fencingToken()));
		}
		return (node, timeout) -> {
			List<Object> reply = node.execute(RedlockScripts.RENEW, keys, args.toArray(), timeout);
			if (reply.size() != requests.size()) {
				throw RedisErrors.unexpected(reply);
			}
			return reply.stream().map((number) -> "1".equals(String.valueOf(number))).toList();
		};
	}

	// a node whose clock is fast must not end a lease before its holder does
	private String lease(Duration lease) {
		return String.valueOf(millis(lease.plus(this.settings.drift(lease))));
	}

	private static long millis(Duration duration) {
		return TimeUnit.NANOSECONDS.toMillis(duration.toNanos() + TimeUnit.MILLISECONDS.toNanos(1) - 1);
	}

}
