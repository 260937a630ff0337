package io.github.lockspring.model;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A model that can be explored: its state is kept as bytes, and a step leads from one
 * state to another. Not thread-safe.
 *
 * @param <E> what can happen
 */
public interface Machine<E extends Enum<E>> {

	/** Returns another one, in the state in which this one began. */
	Machine<E> fresh();

	/** Becomes another state. */
	void load(byte[] state);

	byte[] state();

	/** Returns all that can happen at all, in the order of the constants. */
	E[] events();

	/** Returns what may happen next. */
	List<Step<E>> possibleSteps();

	/**
	 * Performs a step.
	 * @throws Violation if something happens that the protocol excludes
	 * @throws LimitReached if the state after it is not explored
	 */
	void perform(Step<E> step);

	/** From now on nothing goes wrong, and what can be done is done at once. */
	void setFair();

	/** Describes what is about to happen. */
	String describe(Step<E> step);

	/**
	 * Judges a state by what follows from it when nothing goes wrong any more.
	 *
	 * @param <E> what can happen
	 */
	interface Outlook<E extends Enum<E>> {

		/** Returns what goes wrong, and the steps to it; null: nothing does. */
		@Nullable Failure<E> look(byte[] state);

	}

	/**
	 * What went wrong, and the steps to it.
	 *
	 * @param <E> what can happen
	 * @param what the violation
	 * @param steps the steps
	 */
	record Failure<E extends Enum<E>>(String what, List<Step<E>> steps) {
	}

}
