package io.github.lockspring.engine;

import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;

/**
 * Calls of the store that an interrupt must not get in the way of.
 */
final class Calls {

	private static final int MOST_TRIES = 3;

	private Calls() {
	}

	/**
	 * Sets the interrupt flag aside, calls, and sets it again. A driver that is
	 * interrupted during the call sends the request and then does not wait for the
	 * answer: it is asked again, which is safe for every request to a store.
	 * @param call the call
	 * @return its result
	 * @throws LockUnavailableException as the call does
	 */
	static <T> T uninterrupted(Supplier<T> call) {
		boolean interrupted = Thread.interrupted();
		try {
			for (int tries = 1;; tries++) {
				try {
					return call.get();
				}
				catch (LockUnavailableException ex) {
					if (!Thread.interrupted() || tries == MOST_TRIES) {
						throw ex;
					}
					interrupted = true;
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
