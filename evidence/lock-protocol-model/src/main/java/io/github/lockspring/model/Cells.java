package io.github.lockspring.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;

/**
 * Writes the values of a state to bytes, or reads them back: each part of a state has one
 * method that names its values once, in one order, for both directions. Not thread-safe.
 */
public final class Cells {

	private final byte[] bytes;

	private final boolean writes;

	private int next;

	private Cells(byte[] bytes, boolean writes) {
		this.bytes = bytes;
		this.writes = writes;
	}

	/**
	 * @param buffer holds what is written, until it is copied
	 */
	public static Cells writer(byte[] buffer) {
		return new Cells(buffer, true);
	}

	public static Cells reader(byte[] bytes) {
		return new Cells(bytes, false);
	}

	public byte[] written() {
		return Arrays.copyOf(this.bytes, this.next);
	}

	public int pass(int value) {
		if (!this.writes) {
			return this.bytes[this.next++];
		}
		if (value < Byte.MIN_VALUE || value > Byte.MAX_VALUE) {
			throw new IllegalStateException("value " + value + " needs more than a byte");
		}
		this.bytes[this.next++] = (byte) value;
		return value;
	}

	public boolean pass(boolean value) {
		return pass(value ? 1 : 0) == 1;
	}

	public <E extends Enum<E>> E pass(E value, E[] all) {
		return all[pass(value.ordinal())];
	}

	/**
	 * Passes a list.
	 * @param element passes an element; while reading, the value it gets is ignored
	 */
	public <T> List<T> pass(List<T> values, BiFunction<Cells, T, T> element, T any) {
		int size = pass(values.size());
		if (this.writes) {
			values.forEach((value) -> element.apply(this, value));
			return values;
		}
		List<T> read = new ArrayList<>(size + 1);
		for (int i = 0; i < size; i++) {
			read.add(element.apply(this, any));
		}
		return read;
	}

}
