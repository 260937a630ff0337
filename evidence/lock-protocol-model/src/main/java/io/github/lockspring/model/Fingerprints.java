package io.github.lockspring.model;

import java.util.Arrays;

/**
 * A map from states to numbers that keeps 64 bits of each state. Two states with the same
 * 64 bits would be taken for one: with ten million states this happens with a probability
 * of about 3 in a million. Not thread-safe.
 */
public final class Fingerprints {

	private static final int INITIAL_CAPACITY = 1 << 16;

	private long[] keys = new long[INITIAL_CAPACITY];

	private int[] values = new int[INITIAL_CAPACITY];

	private int size;

	public static long of(byte[] state) {
		long hash = 0x9E3779B97F4A7C15L;
		for (byte cell : state) {
			hash = (hash ^ (cell & 0xff)) * 0x100000001b3L;
			hash ^= hash >>> 29;
		}
		hash = (hash ^ (hash >>> 32)) * 0xD6E8FEB86659FD93L;
		hash ^= hash >>> 32;
		return (hash != 0) ? hash : 1;
	}

	int size() {
		return this.size;
	}

	/**
	 * Returns the number of a state, -1 without one.
	 */
	public int get(long fingerprint) {
		int slot = slot(fingerprint);
		return (this.keys[slot] != 0) ? this.values[slot] : -1;
	}

	/**
	 * Gives a state a number.
	 * @return whether it had none
	 */
	public boolean put(long fingerprint, int value) {
		int slot = slot(fingerprint);
		boolean added = this.keys[slot] == 0;
		this.keys[slot] = fingerprint;
		this.values[slot] = value;
		if (added && ++this.size * 10L > this.keys.length * 7L) {
			grow();
		}
		return added;
	}

	private int slot(long fingerprint) {
		int mask = this.keys.length - 1;
		int slot = (int) (fingerprint >>> 20) & mask;
		while (this.keys[slot] != 0 && this.keys[slot] != fingerprint) {
			slot = (slot + 1) & mask;
		}
		return slot;
	}

	private void grow() {
		long[] oldKeys = this.keys;
		int[] oldValues = this.values;
		this.keys = new long[oldKeys.length * 2];
		this.values = Arrays.copyOf(oldValues, oldValues.length * 2);
		for (int i = 0; i < oldKeys.length; i++) {
			if (oldKeys[i] != 0) {
				int slot = slot(oldKeys[i]);
				this.keys[slot] = oldKeys[i];
				this.values[slot] = oldValues[i];
			}
		}
	}

}
