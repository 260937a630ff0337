package io.github.lockspring.internal.engine;

import io.github.lockspring.LockUnavailableException;

/**
 * Why a waiter does not get the lock.
 */
sealed interface AcquireFailure extends Waiter.Outcome {

	/**
	 * Another holder has it.
	 *
	 * @param detail what is known about the holder, a sentence
	 * @param elsewhere whether the holder is known to be outside of this instance
	 */
	record Busy(String detail, boolean elsewhere) implements AcquireFailure {
	}

	/**
	 * The store gave no result.
	 *
	 * @param cause the last failure
	 */
	record Unavailable(LockUnavailableException cause) implements AcquireFailure {

		Unavailable(String message) {
			this(new LockUnavailableException(message));
		}

	}

	/**
	 * The waiting thread was interrupted.
	 */
	record Interrupted() implements AcquireFailure {
	}

}
