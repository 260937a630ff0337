package io.github.lockspring.autoconfigure.observation;

import io.github.lockspring.LockRequest;
import io.micrometer.observation.Observation;

/**
 * What is observed: the wait of a call for its locks, or its hold of them. For the thread
 * of the call.
 *
 * @since 0.1
 */
public final class LockObservationContext extends Observation.Context {

	/**
	 * What a call does.
	 */
	public enum Phase {

		/** It waits for its locks. */
		WAIT,
		/** It holds them. */
		HOLD

	}

	private final Phase phase;

	private final LockRequest request;

	private final String store;

	private String outcome = "unknown";

	LockObservationContext(Phase phase, LockRequest request, String store) {
		this.phase = phase;
		this.request = request;
		this.store = store;
	}

	/**
	 * Returns what the call does.
	 * @return whether it waits for its locks or holds them
	 */
	public Phase getPhase() {
		return this.phase;
	}

	/**
	 * Returns the request, with the keys and the names of the locks.
	 * @return the request
	 */
	public LockRequest getRequest() {
		return this.request;
	}

	/**
	 * Returns the name of the store.
	 * @return the value of the tag {@code store} of the meters
	 */
	public String getStore() {
		return this.store;
	}

	/**
	 * Returns how it ended.
	 * @return of a wait {@code acquired}, {@code busy}, {@code unavailable},
	 * {@code interrupted} or {@code error}; of a hold {@code released} or {@code lost};
	 * {@code unknown} until then
	 */
	public String getOutcome() {
		return this.outcome;
	}

	void setOutcome(String outcome) {
		this.outcome = outcome;
	}

}
