package io.github.lockspring.redis.internal;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;

import io.github.lockspring.internal.base.StoreOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/**
 * Names and lifetimes of the keys, and names of the channels. All keys of a lock are in
 * its hash slot: its queue, and the last fencing token, which it shares with all locks of
 * the slot.
 *
 * @param prefix the prefix of all keys, without braces
 * @since 0.1
 */
public record RedisKeys(String prefix) {

	/**
	 * Checks the prefix of all keys.
	 * @param prefix the prefix
	 * @throws IllegalArgumentException if it is empty or has braces
	 */
	public static void checkPrefix(String prefix) {
		StoreOptions.checkKeyPrefix(prefix);
		if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
			throw new IllegalArgumentException("keyPrefix must not have braces, which would put all keys into one hash"
					+ " slot, but is '" + prefix + "'");
		}
	}

	/**
	 * Returns the name of a lock.
	 * @param key the user's key
	 * @return the key in Redis
	 */
	public String lock(String key) {
		return this.prefix + key;
	}

	/**
	 * Returns the user's key of a lock.
	 * @param lock the key in Redis
	 * @return the user's key, or null if the lock has another prefix
	 */
	public @Nullable String userKey(String lock) {
		return lock.startsWith(this.prefix) ? lock.substring(this.prefix.length()) : null;
	}

	/**
	 * Returns the names of a lock and of the last fencing token of its slot.
	 * @param key the user's key
	 * @return the two keys in Redis
	 */
	public List<String> lockAndFencingToken(String key) {
		String lock = lock(key);
		return List.of(lock, lastFencingToken(lock));
	}

	/**
	 * Returns the names of a lock, of the last fencing token and of the queue, in the
	 * order that the scripts expect.
	 * @param key the user's key
	 * @return the three keys in Redis
	 */
	public List<String> all(String key) {
		String lock = lock(key);
		return List.of(lock, lastFencingToken(lock), sibling(lock, "queue"));
	}

	private String lastFencingToken(String lock) {
		return '{' + SlotNumbers.in(slot(lock)) + "}:fence:" + this.prefix;
	}

	/**
	 * Returns the name of the key that describes an instance; all are in one slot.
	 * @param instance the instance
	 * @return the name of its key
	 */
	public String instance(String instance) {
		return sibling(this.prefix, "instance:" + instance);
	}

	/**
	 * Returns the name of an instance's channel. The scripts derive it from the name of
	 * the last fencing token, which ends in the prefix.
	 * @param instance the instance
	 * @return the name of its channel
	 */
	public String inbox(String instance) {
		return this.prefix + "inbox:" + instance;
	}

	/*
	 * A key with a hash tag hashes by the tag alone, which its siblings share. A key
	 * without one is itself the tag of its siblings, unless it contains a closing brace,
	 * at which the tag would end: the tag is then the smallest number in its slot, and
	 * the key follows the tag, which keeps the names distinct.
	 */
	private static String sibling(String lock, String kind) {
		String tag = tag(lock);
		if (tag == null && lock.indexOf('}') < 0) {
			return '{' + lock + "}:" + kind;
		}
		return '{' + ((tag != null) ? tag : SlotNumbers.in(slot(lock))) + "}:" + kind + ':' + lock;
	}

	/**
	 * Returns the hash slot of a key in a cluster.
	 * @param key the key in Redis
	 * @return its slot
	 */
	public static int slot(String key) {
		return ClusterSlotHashUtil.calculateSlot(key.getBytes(StandardCharsets.UTF_8));
	}

	private static @Nullable String tag(String key) {
		int open = key.indexOf('{');
		int close = key.indexOf('}', open + 1);
		return (open >= 0 && close > open + 1) ? key.substring(open + 1, close) : null;
	}

	/**
	 * The smallest number in each slot, searched for when it is needed first: for all
	 * slots it takes some ten milliseconds, which no application needs.
	 */
	private static final class SlotNumbers {

		private static final AtomicIntegerArray BY_SLOT = new AtomicIntegerArray(ClusterSlotHashUtil.SLOT_COUNT);

		/** From 1, since 0 means unknown. */
		private static int next = 1;

		static String in(int slot) {
			int number = BY_SLOT.get(slot);
			return String.valueOf((number != 0) ? number : search(slot));
		}

		private static synchronized int search(int slot) {
			while (BY_SLOT.get(slot) == 0) {
				BY_SLOT.compareAndSet(slot(String.valueOf(next)), 0, next);
				next++;
			}
			return BY_SLOT.get(slot);
		}

	}

}
