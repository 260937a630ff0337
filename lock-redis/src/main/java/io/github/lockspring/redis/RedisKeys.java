package io.github.lockspring.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Names of the keys and channels; public for rooms that keep something beside a key. Each
 * lock has two siblings in its own hash slot; no two keys have a sibling in common.
 */
public final class RedisKeys {

	static final int SLOTS = 16384;

	private final String prefix;

	RedisKeys(String prefix) {
		this.prefix = prefix;
	}

	String lock(String key) {
		return this.prefix + key;
	}

	/**
	 * The user's key of a lock's name, or null if it is not one of ours.
	 */
	@Nullable String userKey(String lock) {
		return lock.startsWith(this.prefix) ? lock.substring(this.prefix.length()) : null;
	}

	/**
	 * The lock and its siblings, in the order that the scripts expect.
	 */
	List<String> all(String key) {
		String lock = lock(key);
		return List.of(lock, sibling(lock, "fence"), sibling(lock, "queue"));
	}

	String inboxPrefix() {
		return this.prefix + "inbox:";
	}

	String inbox(String instance) {
		return inboxPrefix() + instance;
	}

	/*
	 * A key with a tag of its own hashes by the tag alone. One without, but with a
	 * closing brace, cannot be put into braces as it is (they would end at that brace),
	 * so that its siblings get the smallest number in its slot for a tag. The key itself
	 * stands after the tag in both cases, which keeps the names apart.
	 */
	/**
	 * The name of a key that belongs to another one and lives in the same hash slot.
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
		String tag = tag(key);
		return crc16((tag != null) ? tag : key) % SLOTS;
	}

	private static @Nullable String tag(String key) {
		int open = key.indexOf('{');
		int close = key.indexOf('}', open + 1);
		return (open >= 0 && close > open + 1) ? key.substring(open + 1, close) : null;
	}

	/**
	 * CRC-16/XMODEM, as the Redis Cluster specification says.
	 */
	private static int crc16(String text) {
		int crc = 0;
		for (byte next : text.getBytes(StandardCharsets.UTF_8)) {
			crc ^= (next & 0xff) << 8;
			for (int bit = 0; bit < 8; bit++) {
				crc = ((crc & 0x8000) != 0) ? (crc << 1) ^ 0x1021 : crc << 1;
			}
			crc &= 0xffff;
		}
		return crc;
	}

	/**
	 * The smallest number in each slot. Made when the first key needs it, which hardly
	 * any application has.
	 */
	private static final class SlotNumbers {

		private static final String[] BY_SLOT = new String[SLOTS];

		static {
			int missing = SLOTS;
			for (int number = 0; missing > 0; number++) {
				String text = String.valueOf(number);
				int slot = crc16(text) % SLOTS;
				if (BY_SLOT[slot] == null) {
					BY_SLOT[slot] = text;
					missing--;
				}
			}
		}

	}

}
