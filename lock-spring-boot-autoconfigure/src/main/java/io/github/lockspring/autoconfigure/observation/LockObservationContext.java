package io.github.lockspring.autoconfigure.observation;

import java.util.List;
import java.util.Locale;

import io.github.lockspring.LockRequest;
import io.micrometer.observation.Observation;

/**
 * An observed wait of a call for its locks, or its hold of them. For the thread of the
 * call.
 *
 * @since 0.1
 */
public final class LockObservationContext extends Observation.Context {

	/**
	 * The phase of a call.
	 */
	public enum Phase {

		/**
		 * It waits for its locks: from the request until all are acquired, or it fails.
		 */
		WAIT,
		/** It holds them: the work, and the release. */
		HOLD;

		String word() {
			return name().toLowerCase(Locale.ROOT);
		}

		/** The name of the observation unless a convention has another one. */
		String observation() {
			return "distributed.lock." + word();
		}

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
	 * Returns the phase of the call.
	 * @return whether it waits for its locks or holds them
	 */
	public Phase getPhase() {
		return this.phase;
	}

	/**
	 * Returns the keys of the locks. They may be personal data.
	 * @return the keys, without the prefix of the store
	 */
	public List<String> getKeys() {
		return this.request.keys();
	}

	/**
	 * Returns the label of the lock, of several keys that of the first one.
	 * @return the value of the tag {@code name} of the meters; {@code none} without one
	 */
	public String getLockName() {
		String name = this.request.nameOf(this.request.keys().get(0));
		return (name != null) ? name : "none";
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
