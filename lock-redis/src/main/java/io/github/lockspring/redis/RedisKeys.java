package io.github.lockspring.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/**
 * Names and lifetimes of the keys, and names of the channels. Each lock has two siblings
 * in its own hash slot; no two locks have a sibling in common. For internal use by the
 * stores on Redis.
 *
 * @since 0.1
 */
public final class RedisKeys {

	private static final Duration MIN_FENCING_KEEP = Duration.ofMinutes(10);

	private final String prefix;

	/**
	 * Creates the names of one store.
	 * @param prefix the prefix of all keys, without braces
	 */
	public RedisKeys(String prefix) {
		this.prefix = prefix;
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
	 * Returns the user's key of a lock, or null if the lock has another prefix.
	 */
	@Nullable String userKey(String lock) {
		return lock.startsWith(this.prefix) ? lock.substring(this.prefix.length()) : null;
	}

	/**
	 * Returns the names of a lock and of its last fencing token.
	 * @param key the user's key
	 * @return the two keys in Redis
	 */
	public List<String> lockAndFencingToken(String key) {
		String lock = lock(key);
		return List.of(lock, sibling(lock, "fence"));
	}

	/**
	 * Returns the names of a lock and its siblings in the order that the scripts expect.
	 */
	List<String> all(String key) {
		String lock = lock(key);
		return List.of(lock, sibling(lock, "fence"), sibling(lock, "queue"));
	}

	/**
	 * Returns how long the last fencing token of a lock is kept.
	 * @param ttl the ttl of the lock
	 * @return twice the ttl, and at least ten minutes
	 */
	public static Duration fencingKeep(Duration ttl) {
		Duration twice = ttl.plus(ttl);
		return (twice.compareTo(MIN_FENCING_KEEP) > 0) ? twice : MIN_FENCING_KEEP;
	}

	/**
	 * Returns the name of the key that says who an instance is; all are in one slot.
	 * @param instance the instance
	 * @return the name of its key
	 */
	public String instance(String instance) {
		return sibling(this.prefix, "instance:" + instance);
	}

	String inboxPrefix() {
		return this.prefix + "inbox:";
	}

	String inbox(String instance) {
		return inboxPrefix() + instance;
	}

	/*
	 * A key with a hash tag hashes by the tag alone, which its siblings share. A key
	 * without one is itself the tag of its siblings, unless it contains a closing brace,
	 * at which the tag would end: the tag is then the smallest number in its slot, and
	 * the key follows the tag, which keeps the names distinct.
	 */
	/**
	 * Returns the name of a key that belongs to another key and lives in its hash slot.
	 * @param lock the other key
	 * @param kind what the sibling is for; a short word
	 * @return the sibling's name, which no other key's sibling has
	 */
	public static String sibling(String lock, String kind) {
		String tag = tag(lock);
		if (tag == null && lock.indexOf('}') < 0) {
			return '{' + lock + "}:" + kind;
		}
		return '{' + ((tag != null) ? tag : SlotNumbers.BY_SLOT[slot(lock)]) + "}:" + kind + ':' + lock;
	}

	static int slot(String key) {
		return ClusterSlotHashUtil.calculateSlot(key.getBytes(StandardCharsets.UTF_8));
	}

	private static @Nullable String tag(String key) {
		int open = key.indexOf('{');
		int close = key.indexOf('}', open + 1);
		return (open >= 0 && close > open + 1) ? key.substring(open + 1, close) : null;
	}

	/**
	 * The smallest number in each slot. Created for the first key that needs it, which
	 * hardly any application has.
	 */
	private static final class SlotNumbers {

		private static final String[] BY_SLOT = new String[ClusterSlotHashUtil.SLOT_COUNT];

		static {
			int missing = BY_SLOT.length;
			for (int number = 0; missing > 0; number++) {
				String text = String.valueOf(number);
				int slot = slot(text);
				if (BY_SLOT[slot] == null) {
					BY_SLOT[slot] = text;
					missing--;
				}
			}
		}

	}

}
