package io.github.lockspring.engine;

import io.github.lockspring.LockUnavailableException;

/**
 * Why a caller goes away without the lock.
 */
sealed interface Failure {

	/**
	 * Somebody else has it.
	 *
	 * @param detail what is known about that, a sentence
	 */
	record Busy(String detail) implements Failure {
	}

	/**
	 * The store could not be asked.
	 *
	 * @param cause what it said last
	 */
	record Unavailable(LockUnavailableException cause) implements Failure {
	}

	/**
	 * The caller was interrupted.
	 */
	record Interrupted() implements Failure {
	}

}
