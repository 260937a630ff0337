package io.github.lockspring.internal.engine;

import io.github.lockspring.store.LockStore.AcquireRequest;

/**
 * What a waiter has to do next.
 */
sealed interface WaiterAction {

	/** Nothing: its outcome is known. */
	Done DONE = new Done();

	/**
	 * Nothing: its outcome is known.
	 */
	record Done() implements WaiterAction {
	}

	/**
	 * Wait until it is woken or the time is over, then ask again what to do.
	 *
	 * @param nanos longest time
	 */
	record Park(long nanos) implements WaiterAction {
	}

	/**
	 * Send an acquire request for all waiters of this instance, and report its result.
	 *
	 * @param request the request
	 * @param sent the time before it is sent
	 */
	record AcquireAttempt(AcquireRequest request, long sent) implements WaiterAction {
	}

}
