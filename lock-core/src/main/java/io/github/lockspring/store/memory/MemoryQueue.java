package io.github.lockspring.store.memory;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.store.OwnerToken;

import org.jspecify.annotations.Nullable;

/**
 * The tokens waiting for one key. A token's position is the time of its first request,
 * plus a second for a token that needs no message, since it may miss its turn. Not
 * thread-safe.
 */
final class MemoryQueue {

	private static final long KEEP = TimeUnit.SECONDS.toNanos(60);

	private static final long DELAY_WITHOUT_MESSAGE = TimeUnit.SECONDS.toNanos(1);

	private final Map<OwnerToken, Long> waiting = new LinkedHashMap<>();

	private long end;

	/**
	 * Adds a token, unless it is already queued.
	 * @return whether it was added
	 */
	boolean add(OwnerToken token, long now) {
		dropIfOld(now);
		this.end = now + KEEP;
		return this.waiting.putIfAbsent(token, token.needsMessage() ? now : now + DELAY_WITHOUT_MESSAGE) == null;
	}

	void remove(OwnerToken token) {
		this.waiting.remove(token);
	}

	/**
	 * Removes the first token and returns it; null if there is none.
	 */
	@Nullable OwnerToken poll(long now) {
		dropIfOld(now);
		Map.Entry<OwnerToken, Long> first = this.waiting.entrySet()
			.stream()
			.min(Comparator.comparingLong((each) -> each.getValue() - now))
			.orElse(null);
		if (first == null) {
			return null;
		}
		this.waiting.remove(first.getKey());
		return first.getKey();
	}

	/**
	 * Returns the waiting instances in order of arrival.
	 */
	List<String> instances(long now) {
		dropIfOld(now);
		return this.waiting.keySet().stream().map(OwnerToken::instance).toList();
	}

	boolean isAlone(OwnerToken token) {
		return this.waiting.size() == 1 && this.waiting.containsKey(token);
	}

	boolean isEmpty(long now) {
		dropIfOld(now);
		return this.waiting.isEmpty();
	}

	// a queue without new requests was left behind by instances that have stopped
	private void dropIfOld(long now) {
		if (this.end - now <= 0) {
			this.waiting.clear();
		}
	}

}
