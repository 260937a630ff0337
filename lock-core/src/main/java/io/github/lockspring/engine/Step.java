package io.github.lockspring.engine;

import io.github.lockspring.store.AcquireRequest;
import io.github.lockspring.store.RenewRequest;

/**
 * What a caller has to do next.
 */
sealed interface Step {

	/**
	 * Nothing more: it holds the lock.
	 *
	 * @param hold its hold
	 */
	record Granted(Hold hold) implements Step {
	}

	/**
	 * Go away.
	 *
	 * @param failure why
	 */
	record GiveUp(Failure failure) implements Step {
	}

	/**
	 * Wait, then ask again what to do.
	 *
	 * @param nanos longest time
	 */
	record Park(long nanos) implements Step {
	}

	/**
	 * Ask the store, for all callers of this instance, and say what it answered.
	 *
	 * @param tenure the tenure
	 * @param request the request
	 * @param sent the time before it is sent
	 */
	record Look(Tenure tenure, AcquireRequest request, long sent) implements Step {
	}

	/**
	 * Renew the lease that is to be passed on to this caller, and say what was answered.
	 *
	 * @param tenure the tenure
	 * @param request the request
	 * @param sent the time before it is sent
	 */
	record Renew(Tenure tenure, RenewRequest request, long sent) implements Step {
	}

}
