package io.github.lockspring.engine;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

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

	/**
	 * Why a caller that goes away now has not got the lock. With the entry's lock held.
	 */
	static Failure of(LockTable table, Caller caller, @Nullable Tenure present) {
		if (present != null && present.hold == null && present.lookError != null) {
			return new Unavailable(present.lookError);
		}
		// a look has been under way for longer than an answer usually takes
		if (present != null && present.state == Tenure.State.ASKING && !present.looked
				&& table.time.nanoTime() - present.asked >= table.settings.commandTimeout().toNanos() / 4) {
			return new Unavailable(new LockUnavailableException("The store has not answered yet"));
		}
		return busy(table, caller, present);
	}

	/** With the entry's lock held. */
	static Busy busy(LockTable table, Caller caller, @Nullable Tenure present) {
		return new Busy(Text.busy(caller, present, table.isClosing(), table.time.nanoTime()));
	}

}
