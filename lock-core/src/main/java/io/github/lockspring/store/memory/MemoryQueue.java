package io.github.lockspring.store.memory;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.lockspring.store.OwnerToken;

import org.jspecify.annotations.Nullable;

/**
 * The tokens that wait for one key, each with the time from which it counts as waiting. A
 * token that polls waits in a line of its own, whose turn comes later. Not thread-safe.
 */
final class MemoryQueue {

	private static final long KEEP = TimeUnit.SECONDS.toNanos(60);

	private static final long POLL_DELAY = TimeUnit.SECONDS.toNanos(1);

	/**
	 * The first in the queue.
	 *
	 * @param token the token
	 * @param polls whether no message reaches it
	 */
	record Head(OwnerToken token, boolean polls) {
	}

	private final Map<OwnerToken, Long> informed = new LinkedHashMap<>();

	private final Map<OwnerToken, Long> polling = new LinkedHashMap<>();

	private long end;

	/**
	 * Adds a token, unless it is there already.
	 * @return whether it was added
	 */
	boolean add(OwnerToken token, boolean polls, long now) {
		dropIfOld(now);
		this.end = now + KEEP;
		return (polls ? this.polling.putIfAbsent(token, now + POLL_DELAY)
				: this.informed.putIfAbsent(token, now)) == null;
	}

	void remove(OwnerToken token) {
		this.informed.remove(token);
		this.polling.remove(token);
	}

	/**
	 * Removes the first token, and returns it; null if there is none.
	 */
	@Nullable Head poll(long now) {
		if (isEmpty(now)) {
			return null;
		}
		boolean polls = this.informed.isEmpty()
				|| (!this.polling.isEmpty() && first(this.polling).getValue() - first(this.informed).getValue() < 0);
		Map<OwnerToken, Long> line = polls ? this.polling : this.informed;
		OwnerToken token = first(line).getKey();
		line.remove(token);
		return new Head(token, polls);
	}

	private static Map.Entry<OwnerToken, Long> first(Map<OwnerToken, Long> line) {
		Iterator<Map.Entry<OwnerToken, Long>> entries = line.entrySet().iterator();
		return entries.next();
	}

	/**
	 * Returns the instances that wait, those that poll last.
	 */
	List<String> instances(long now) {
		dropIfOld(now);
		return Stream.concat(this.informed.keySet().stream(), this.polling.keySet().stream())
			.map(OwnerToken::instance)
			.toList();
	}

	boolean isEmpty(long now) {
		dropIfOld(now);
		return this.informed.isEmpty() && this.polling.isEmpty();
	}

	// left behind by instances that have stopped
	private void dropIfOld(long now) {
		if (this.end - now <= 0) {
			this.informed.clear();
			this.polling.clear();
		}
	}

}
