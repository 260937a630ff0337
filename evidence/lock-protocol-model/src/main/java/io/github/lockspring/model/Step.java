package io.github.lockspring.model;

/**
 * One event, to one instance or one command.
 *
 * @param <E> what can happen
 * @param event what happens
 * @param index of the instance, or of the command on its way
 */
public record Step<E extends Enum<E>>(E event, int index) {

	private static final int MAX_INDEX = 16;

	short encode() {
		return (short) (this.event.ordinal() * MAX_INDEX + this.index);
	}

	static <E extends Enum<E>> Step<E> decode(short code, E[] events) {
		return new Step<>(events[code / MAX_INDEX], code % MAX_INDEX);
	}

}
